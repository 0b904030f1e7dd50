//! The registration endpoint (RFC 7591).

use serde_json::{Value, json};

use super::{
    client::Client,
    reply::{self, Problem, Reply},
    state::{Site, now, random},
};

/// Registers a client.
pub(super) fn serve(site: &Site, body: &[u8]) -> Result<Reply, Problem> {
    let bad = |message: &str| Problem::new("invalid_client_metadata", message);
    let document: Value = serde_json::from_slice(body)
        .map_err(|error| bad(&format!("the body is not JSON: {error}")))?;
    if !document.is_object() {
        return Err(bad("the body must be a JSON object"));
    }
    let id = random();
    let mut client = Client::read(id.clone(), &document)?;
    let grants = document["grant_types"].as_array();
    let needs_redirect = grants.is_none_or(|all| all.iter().any(|one| one == "authorization_code"));
    if needs_redirect && client.redirects.is_empty() {
        let message = "`redirect_uris` is missing";
        return Err(Problem::new("invalid_redirect_uri", message));
    }
    check_kind(&document, &client)?;
    let mut answer = document;
    answer["client_id"] = json!(id);
    answer["client_id_issued_at"] = json!(now());
    match answer["token_endpoint_auth_method"].as_str() {
        Some("none" | "private_key_jwt") => {}
        method => {
            // RFC 7591, 2: the default method is Basic.
            let method = method.unwrap_or("client_secret_basic").to_owned();
            let secret = random();
            client = client.with_secret(&secret);
            answer["token_endpoint_auth_method"] = json!(method);
            answer["client_secret"] = json!(secret);
            answer["client_secret_expires_at"] = json!(0);
        }
    }
    site.state().clients.put(id, client);
    Ok(reply::json_with(http::StatusCode::CREATED, &answer))
}

/// OpenID Connect Registration: a web application must not have redirect URIs on this machine.
fn check_kind(document: &Value, client: &Client) -> Result<(), Problem> {
    let is_local = |uri: &String| uri.starts_with("http://");
    match document["application_type"].as_str() {
        Some("web") if client.redirects.iter().any(is_local) => {
            let message =
                "a web application must use an `https` redirect URI: register a native application";
            Err(Problem::new("invalid_redirect_uri", message))
        }
        None | Some("native" | "web") => Ok(()),
        Some(other) => {
            let message = format!("`application_type` must be `web` or `native`, got `{other}`");
            Err(Problem::new("invalid_client_metadata", message))
        }
    }
}
