//! The heads of HTTP requests and responses, for `--wire`.

use std::future::ready;

use futures_core::future::BoxFuture;
use http::{HeaderMap, HeaderName};
use serde_json::{Map, Value, json};
use turnbuckle::{
    auth::client::OAuth,
    client::Direction,
    transport::http::client::{
        Authorize, BoxError, Challenge, Decision, RequestHead, ResponseHead,
    },
};

use crate::{secret, wire::Wire};

/// Shows the heads of requests after credentials were added to them.
pub(crate) struct HeadPrinter {
    wire: Wire,
    tokens: Option<OAuth>,
}

impl HeadPrinter {
    pub(crate) fn new(wire: Wire, tokens: Option<OAuth>) -> Self {
        Self { wire, tokens }
    }
}

impl Authorize for HeadPrinter {
    fn authorize<'a>(&'a self, request: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let (method, address, headers) = (request.method, request.address, request.headers);
            if let Some(tokens) = &self.tokens {
                let mut departing = RequestHead::new(method, address, headers);
                departing.body = request.body;
                departing.attempt = request.attempt;
                tokens.authorize(departing).await?;
            }
            // The URL is shown without its query, which some servers use for keys.
            let head = json!({
                "method": method.as_str(),
                "url": address.to_string(),
                "headers": shown(headers),
            });
            self.wire.show_head(Direction::Out, &head);
            Ok(())
        })
    }

    fn answered(&self, answer: ResponseHead<'_>) {
        if let Some(tokens) = &self.tokens {
            tokens.answered(answer);
        }
        let head = json!({
            "method": answer.method.as_str(),
            "status": answer.status.as_u16(),
            "headers": shown(answer.headers),
        });
        self.wire.show_head(Direction::In, &head);
    }

    fn challenged<'a>(
        &'a self,
        refusal: Challenge<'a>,
    ) -> BoxFuture<'a, Result<Decision, BoxError>> {
        match &self.tokens {
            Some(tokens) => tokens.challenged(refusal),
            None => Box::pin(ready(Ok(Decision::GiveUp))),
        }
    }
}

/// Headers as an object, with secrets masked. Values of the same header are joined, as HTTP allows.
fn shown(headers: &HeaderMap) -> Map<String, Value> {
    let each = headers.keys().map(|name| {
        let values = headers.get_all(name).iter().map(|value| {
            if value.is_sensitive() || is_secret(name) {
                secret::MASK.into()
            } else {
                String::from_utf8_lossy(value.as_bytes())
            }
        });
        let text = values.collect::<Vec<_>>().join(", ");
        (name.to_string(), Value::from(text))
    });
    each.collect()
}

/// Headers whose values are secret, in addition to those that the client marked.
const SECRET: [&str; 4] = ["cookie", "set-cookie", "dpop", "mcp-session-id"];

fn is_secret(name: &HeaderName) -> bool {
    let name = name.as_str();
    SECRET.contains(&name) || name.contains("token") || secret::is_secret(name)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn secrets_are_masked_and_the_rest_is_there() {
        let mut headers = HeaderMap::new();
        let mut marked = HeaderValue::from_static("hush");
        marked.set_sensitive(true);
        headers.insert("x-tenant", marked);
        headers.append("accept", HeaderValue::from_static("a/b"));
        headers.append("accept", HeaderValue::from_static("c/d"));
        for name in ["authorization", "x-api-key", "x-auth-token", "cookie"] {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static("hush"),
            );
        }
        let shown = Value::from(shown(&headers));
        assert!(!shown.to_string().contains("hush"), "{shown}");
        assert_eq!(shown["accept"], "a/b, c/d");
        assert_eq!(shown["x-tenant"], "***");
    }
}
