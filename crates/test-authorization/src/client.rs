//! Clients and their redirect URIs.

use serde_json::Value;
use turnbuckle_auth::jose::{JwkSet, digest};
use turnbuckle_transport::http::client::Address;

use super::reply::Problem;

/// A client.
#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) id: String,
    pub(super) redirects: Vec<String>,
    pub(super) proof: Proof,
}

/// How a client authenticates.
#[derive(Clone, Debug)]
pub(super) enum Proof {
    /// Without authentication.
    None,
    /// With a secret. Only its digest is kept.
    Secret(String),
    /// With an assertion that is signed with one of these keys.
    Keys(JwkSet),
}

impl Client {
    pub(super) fn public(id: String, redirects: Vec<String>) -> Self {
        Self {
            id,
            redirects,
            proof: Proof::None,
        }
    }

    pub(super) fn with_secret(mut self, secret: &str) -> Self {
        self.proof = Proof::Secret(digest(secret));
        self
    }

    pub(super) fn with_keys(mut self, keys: JwkSet) -> Self {
        self.proof = Proof::Keys(keys);
        self
    }

    /// Whether this redirect URI is allowed: it must be exactly as registered, except for the port
    /// on this machine, which a client cannot know in advance (RFC 8252, 7.3).
    pub(super) fn may_return_to(&self, uri: &str) -> bool {
        self.redirects.iter().any(|known| {
            known == uri || loopback(known).is_some_and(|own| loopback(uri) == Some(own))
        })
    }

    /// Reads a client's description of itself, from a registration or from its document.
    pub(super) fn read(id: String, document: &Value) -> Result<Self, Problem> {
        let bad = |message: &str| Problem::new("invalid_client_metadata", message);
        let redirects = document["redirect_uris"].as_array();
        let redirects: Vec<String> = redirects
            .into_iter()
            .flatten()
            .filter_map(|uri| uri.as_str().map(str::to_owned))
            .collect();
        if let Some(uri) = redirects.iter().find(|uri| !is_safe(uri)) {
            let message = format!("`{uri}` is neither `https` nor on this machine");
            return Err(Problem::new("invalid_redirect_uri", message));
        }
        let client = Self::public(id, redirects);
        if !document["jwks"].is_null() {
            let keys = JwkSet::parse(&document["jwks"]);
            let keys = keys.map_err(|error| bad(&format!("`jwks`: {error}")))?;
            return Ok(client.with_keys(keys));
        }
        Ok(client)
    }
}

/// security-considerations: redirect URIs MUST be either on this machine or `https`. A private-use
/// scheme is accepted too, because it belongs to one program.
fn is_safe(uri: &str) -> bool {
    match uri.split_once(':') {
        Some(("http", _)) => loopback(uri).is_some(),
        Some(("javascript" | "data" | "file", _)) | None => false,
        Some(_) => !uri.contains('#'),
    }
}

/// The host and the path of a URL on this machine, without the port.
fn loopback(uri: &str) -> Option<(String, String)> {
    let address = Address::parse(uri).ok()?;
    let host = address.uri().host()?.to_owned();
    let is_own = !address.is_https() && address.is_loopback();
    let path = address.uri().path_and_query()?.to_string();
    is_own.then_some((host, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirects_are_exact_but_for_the_port_on_this_machine() {
        let redirects = ["http://127.0.0.1/callback", "https://app.example/back"];
        let client = Client::public("a".into(), redirects.map(str::to_owned).to_vec());
        for fine in ["http://127.0.0.1:4711/callback", "https://app.example/back"] {
            assert!(client.may_return_to(fine), "{fine}");
        }
        for bad in [
            "http://127.0.0.1:4711/other",
            "http://localhost:4711/callback",
            "https://app.example/back?x=1",
            "https://app.example:8443/back",
            "https://evil.example/back",
        ] {
            assert!(!client.may_return_to(bad), "{bad}");
        }
    }

    #[test]
    fn redirects_that_leak_are_not_registered() {
        for fine in [
            "https://a.example/b",
            "http://localhost:1/c",
            "com.example.app:/cb",
        ] {
            assert!(is_safe(fine), "{fine}");
        }
        for bad in [
            "http://a.example/b",
            "javascript:alert(1)",
            "data:text/html,x",
            "x",
        ] {
            assert!(!is_safe(bad), "{bad}");
        }
    }
}
