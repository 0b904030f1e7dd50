//! The introspection endpoint, where servers ask about tokens (RFC 7662).

use http::HeaderMap;
use serde_json::{Map, Value, json};
use turnbuckle_auth::jose::{Algorithm, Jws};

use super::{
    form::Form,
    reply::{self, Problem, Reply},
    state::{Site, now},
};

pub(super) async fn serve(site: &Site, headers: &HeaderMap, body: &[u8]) -> Result<Reply, Problem> {
    let form = Form::parse(body)?;
    let client = site.known_client(headers, &form).await?;
    // RFC 7662, 2.1: the client MUST authenticate itself.
    client
        .ok_or_else(|| Problem::new("invalid_client", "client authentication is missing"))?
        .proved()?;
    let token = form.need("token")?;
    let claims = opaque(site, token).or_else(|| signed(site, token));
    let is_current = |claims: &Map<String, Value>| {
        claims
            .get("exp")
            .and_then(Value::as_u64)
            .is_none_or(|expires| expires > now())
    };
    Ok(match claims.filter(is_current) {
        Some(mut claims) => {
            claims.insert("active".into(), json!(true));
            reply::json(&Value::Object(claims))
        }
        None => reply::json(&json!({ "active": false })),
    })
}

fn opaque(site: &Site, token: &str) -> Option<Map<String, Value>> {
    site.state().access.get(token).cloned()
}

fn signed(site: &Site, token: &str) -> Option<Map<String, Value>> {
    let state = site.state();
    if state.is_revoked(token) {
        return None;
    }
    let keys = state.public_keys();
    drop(state);
    Jws::parse(token).ok()?.verify(&keys, &Algorithm::ALL).ok()
}
