//! Authentication of clients at the token endpoint.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, header};
use serde_json::Value;
use turnbuckle_auth::jose::{Algorithm, Jws, digest};

use super::{
    client::{Client, Proof},
    form::Form,
    reply::Problem,
    state::{Site, now},
};

/// The type of client assertions (RFC 7523).
const ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A client, and whether it has authenticated itself.
pub(super) struct Known {
    pub(super) client: Client,
    pub(super) is_proved: bool,
}

impl Known {
    /// Refuses a client that has not authenticated itself.
    pub(super) fn proved(self) -> Result<Client, Problem> {
        if self.is_proved {
            return Ok(self.client);
        }
        let message = "this request needs client authentication";
        Err(Problem::new("unauthorized_client", message))
    }
}

impl Site {
    /// Finds the client of a request and checks its authentication. Returns `None` if the request
    /// names no client.
    pub(super) async fn known_client(
        &self,
        headers: &HeaderMap,
        form: &Form,
    ) -> Result<Option<Known>, Problem> {
        if let Some((id, secret)) = basic(headers)? {
            if form.get("client_secret").is_some() || form.get("client_assertion").is_some() {
                let message = "the client must use one authentication method only";
                return Err(Problem::new("invalid_request", message));
            }
            return self.with_secret(&id, &secret).await.map(Some);
        }
        if let Some(assertion) = form.get("client_assertion") {
            if form.get("client_assertion_type") != Some(ASSERTION) {
                let message = "unknown `client_assertion_type`";
                return Err(Problem::new("invalid_client", message));
            }
            return self.with_assertion(assertion, form).await.map(Some);
        }
        let Some(id) = form.get("client_id") else {
            return Ok(None);
        };
        if let Some(secret) = form.get("client_secret") {
            return self.with_secret(id, secret).await.map(Some);
        }
        let client = self.client(id).await?;
        match client.proof {
            Proof::None => Ok(Some(Known {
                client,
                is_proved: false,
            })),
            _ => Err(unproved("client authentication is missing")),
        }
    }

    async fn with_secret(&self, id: &str, secret: &str) -> Result<Known, Problem> {
        let client = self.client(id).await?;
        match &client.proof {
            // Digests are compared, so the time of the comparison reveals nothing about the secret.
            Proof::Secret(known) if *known == digest(secret) => Ok(Known {
                client,
                is_proved: true,
            }),
            _ => Err(unproved("the client's secret is wrong")),
        }
    }

    async fn with_assertion(&self, assertion: &str, form: &Form) -> Result<Known, Problem> {
        let token = Jws::parse(assertion).map_err(|error| unproved(&error.to_string()))?;
        let id = token.unverified_claims().get("sub").and_then(Value::as_str);
        let id = id.unwrap_or_default().to_owned();
        if form.get("client_id").is_some_and(|given| given != id) {
            return Err(unproved("the assertion was made by another client"));
        }
        let client = self.client(&id).await?;
        let Proof::Keys(keys) = &client.proof else {
            return Err(unproved("the client is registered without keys"));
        };
        let claims = token.verify(keys, &Algorithm::ALL);
        let claims = claims.map_err(|error| unproved(&error.to_string()))?;
        let text = |name| claims.get(name).and_then(Value::as_str);
        if text("iss") != Some(&id) {
            return Err(unproved("`iss` and `sub` of the assertion differ"));
        }
        let token_endpoint = self.url("/token");
        if !is_for(claims.get("aud"), &[&self.issuer, &token_endpoint]) {
            return Err(unproved("the assertion has another audience"));
        }
        if claims.get("exp").and_then(Value::as_u64) <= Some(now()) {
            return Err(unproved("the assertion has expired"));
        }
        let jti = text("jti").ok_or_else(|| unproved("the assertion has no `jti`"))?;
        if !self.state().is_first_use(format!("{id} {jti}")) {
            return Err(unproved("the assertion was used before"));
        }
        Ok(Known {
            client,
            is_proved: true,
        })
    }
}

/// Whether an `aud` contains one of these values.
pub(super) fn is_for(audience: Option<&Value>, ours: &[&str]) -> bool {
    let is_ours = |value: &Value| value.as_str().is_some_and(|text| ours.contains(&text));
    match audience {
        Some(Value::Array(all)) => all.iter().any(is_ours),
        Some(one) => is_ours(one),
        None => false,
    }
}

fn unproved(message: &str) -> Problem {
    Problem::new("invalid_client", message)
}

/// The name and the secret of Basic authentication, both form-encoded (RFC 6749, 2.3.1).
fn basic(headers: &HeaderMap) -> Result<Option<(String, String)>, Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Ok(None);
    };
    let read = || {
        let (scheme, rest) = value.to_str().ok()?.split_once(' ')?;
        let pair = scheme
            .eq_ignore_ascii_case("Basic")
            .then(|| STANDARD.decode(rest.trim()).ok())??;
        let pair = String::from_utf8(pair).ok()?;
        let (id, secret) = pair.split_once(':')?;
        Some((decode(id), decode(secret)))
    };
    match read() {
        Some(pair) => Ok(Some(pair)),
        None => Err(unproved("the `Authorization` header cannot be read")),
    }
}

fn decode(text: &str) -> String {
    // A text without `=` is parsed as a name without a value.
    let mut pairs = form_urlencoded::parse(text.as_bytes());
    match pairs.next() {
        Some((name, value)) if value.is_empty() && !text.contains('=') => name.into_owned(),
        _ => text.to_owned(),
    }
}
