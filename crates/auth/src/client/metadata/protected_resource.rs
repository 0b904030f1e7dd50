//! Protected resource metadata, RFC 9728.

use serde::Deserialize;
use turnbuckle_transport::http::client::Address;

/// The metadata of a protected server.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct ProtectedResource {
    /// The server's identifier for itself, which tokens are requested for.
    pub(crate) resource: String,
    /// The issuer URLs of its authorization servers.
    #[serde(default)]
    pub(crate) authorization_servers: Vec<String>,
    /// The supported scopes.
    pub(crate) scopes_supported: Option<Vec<String>>,
    /// The algorithms of DPoP proofs that it accepts, if tokens may be bound to a key.
    pub(crate) dpop_signing_alg_values_supported: Option<Vec<String>>,
    /// Whether it accepts only tokens that are bound to a key.
    #[serde(default)]
    pub(crate) dpop_bound_access_tokens_required: bool,
}

impl ProtectedResource {
    /// Whether the resource is the server at this URL, or contains it: the same origin, and a path
    /// that the server's path begins with, segment by segment.
    ///
    /// If this were not checked, a document that names another server would make the client fetch a
    /// token for that server and send it to this one.
    pub(crate) fn is_of(&self, server: &Address) -> bool {
        let Ok(resource) = Address::parse(&self.resource) else {
            return false;
        };
        if self.resource.contains('#') || !resource.is_same_origin(server) {
            return false;
        }
        let (resource, server) = (resource.uri().path(), server.uri().path());
        let resource = resource.trim_end_matches('/');
        match server.strip_prefix(resource) {
            Some(rest) => rest.is_empty() || rest.starts_with('/'),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: A24
    #[test]
    fn a_resource_is_the_server_or_what_it_is_part_of() {
        let server = Address::parse("https://host/a/mcp?key=1").unwrap();
        for (resource, is_of) in [
            ("https://host/a/mcp", true),
            ("https://HOST:443/a/mcp/", true),
            ("https://host/a", true),
            ("https://host/", true),
            ("https://host", true),
            ("https://host/a/mc", false),
            ("https://host/b", false),
            ("https://host/a/mcp/more", false),
            ("http://host/a/mcp", false),
            ("https://host:444/a/mcp", false),
            ("https://evil.example/a/mcp", false),
            ("https://host/a/mcp#part", false),
            ("host/a/mcp", false),
            ("", false),
        ] {
            let json = serde_json::json!({ "resource": resource });
            let document: ProtectedResource = serde_json::from_value(json).unwrap();
            assert_eq!(document.is_of(&server), is_of, "{resource}");
        }
    }
}
