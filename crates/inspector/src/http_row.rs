//! A hook that records the heads of requests and responses, around the hook that adds credentials.

use std::{
    collections::HashMap,
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use futures_core::future::BoxFuture;
use http::HeaderMap;
use tokio::task::Id;
use turnbuckle::{
    auth::client::OAuth,
    transport::http::client::{
        Authorize, BoxError, Challenge, Decision, RequestHead, ResponseHead,
    },
};
use turnbuckle_base::lock::Mutex;

use super::{
    clock,
    wire::{HttpHead, WireLog},
};

/// How many requests are remembered until their responses arrive. When there are more, all of them are forgotten.
const MAX_UNDER_WAY: usize = 1_024;

/// The text that replaces a secret.
const MASK: &str = "•••";

/// Headers whose values are secret, in addition to those that the client marked.
const SECRET: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "dpop",
    "mcp-session-id",
];

/// Records the requests of one server.
#[derive(Clone)]
pub(super) struct HttpObserver {
    server: String,
    wire: Arc<WireLog>,
    oauth: OAuth,
    /// Whether the user has asked to sign in: a refusal alone does not open a browser.
    may_sign_in: Arc<AtomicBool>,
    /// Each task has one request under way at a time.
    under_way: Arc<Mutex<UnderWay>>,
}

/// The row of each request that has no response yet, and when it was sent.
type UnderWay = HashMap<Option<Id>, (u64, Instant)>;

impl HttpObserver {
    pub(super) fn new(
        server: String,
        wire: Arc<WireLog>,
        oauth: OAuth,
        may_sign_in: Arc<AtomicBool>,
    ) -> Self {
        Self {
            server,
            wire,
            oauth,
            may_sign_in,
            under_way: Arc::default(),
        }
    }

    fn departs(&self, request: &RequestHead<'_>) {
        let head = HttpHead {
            method: request.method.to_string(),
            url: request.address.to_string(),
            status: None,
            request_headers: shown(request.headers),
            response_headers: Vec::new(),
            first_byte_ms: None,
        };
        let seq = self.wire.departs(&self.server, head, request.body);
        let mut under_way = self.under_way.lock();
        if under_way.len() >= MAX_UNDER_WAY {
            under_way.clear();
        }
        under_way.insert(tokio::task::try_id(), (seq, Instant::now()));
    }
}

impl Authorize for HttpObserver {
    fn authorize<'a>(&'a self, request: RequestHead<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let has_own = request.headers.contains_key(http::header::AUTHORIZATION);
            if has_own {
                // The user wants to send this header instead of stored credentials.
                self.departs(&request);
                return Ok(());
            }
            let (method, address) = (request.method, request.address);
            let (body, attempt, headers) = (request.body, request.attempt, request.headers);
            let mut departing = RequestHead::new(method, address, headers);
            departing.body = body;
            departing.attempt = attempt;
            self.oauth.authorize(departing).await?;
            let mut departing = RequestHead::new(method, address, headers);
            departing.body = body;
            self.departs(&departing);
            Ok(())
        })
    }

    fn answered(&self, answer: ResponseHead<'_>) {
        self.oauth.answered(answer);
        let Some((seq, since)) = self.under_way.lock().remove(&tokio::task::try_id()) else {
            return;
        };
        let ms = clock::milliseconds(since.elapsed());
        self.wire
            .arrives(seq, answer.status.as_u16(), shown(answer.headers), ms);
    }

    fn challenged<'a>(
        &'a self,
        refusal: Challenge<'a>,
    ) -> BoxFuture<'a, Result<Decision, BoxError>> {
        if self.may_sign_in.load(Ordering::Relaxed) {
            return self.oauth.challenged(refusal);
        }
        Box::pin(ready(Ok(Decision::GiveUp)))
    }
}

/// Headers as text, with secrets masked.
fn shown(headers: &HeaderMap) -> Vec<(String, String)> {
    let each = headers.iter();
    each.map(|(name, value)| {
        let text = if value.is_sensitive() || is_secret(name.as_str()) {
            MASK.to_owned()
        } else {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        };
        (name.to_string(), text)
    })
    .collect()
}

/// Whether a header with this name contains a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET.contains(&&*name)
        || ["token", "secret", "key"]
            .iter()
            .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn secrets_are_masked() {
        let mut headers = HeaderMap::new();
        headers.insert("authorization", HeaderValue::from_static("Bearer hush"));
        headers.insert("x-auth-token", HeaderValue::from_static("hush"));
        headers.insert("mcp-method", HeaderValue::from_static("tools/call"));
        let mut marked = HeaderValue::from_static("hush");
        marked.set_sensitive(true);
        headers.insert("x-tenant", marked);
        let shown = shown(&headers);
        assert!(
            shown
                .iter()
                .all(|(_, value)| value != "hush" && value != "Bearer hush")
        );
        assert!(shown.contains(&("mcp-method".to_owned(), "tools/call".to_owned())));
    }
}
