//! The resource: the URL that clients use for the server, and URLs derived from it.

use turnbuckle_transport::http::client::{Address, AddressError};

/// The path of resource metadata (RFC 9728).
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The server's own URL, as it appears in tokens and proofs.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    text: String,
    address: Address,
    /// `https://host:port`
    origin: String,
}

impl Resource {
    pub(super) fn parse(text: &str) -> Result<Self, AddressError> {
        let address = Address::parse(text)?;
        let uri = address.uri();
        let scheme = uri.scheme_str().unwrap_or_default();
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let origin = format!("{scheme}://{authority}");
        // authorization, "Canonical Server URI": without a trailing slash and without a fragment.
        let path = uri.path().trim_end_matches('/');
        let query = uri
            .query()
            .map_or_else(String::new, |query| format!("?{query}"));
        Ok(Self {
            text: format!("{origin}{path}{query}"),
            address,
            origin,
        })
    }

    /// The identifier as it is published.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The host, with the port unless it is the default one.
    pub(super) fn host(&self) -> &str {
        self.origin.split_once("://").map_or("", |(_, host)| host)
    }

    pub(super) fn path(&self) -> &str {
        self.address.uri().path().trim_end_matches('/')
    }

    /// The URL of the metadata document.
    pub(super) fn metadata_url(&self) -> String {
        format!("{}{WELL_KNOWN}{}", self.origin, self.path())
    }

    /// Whether clients look for the document at this path: below the resource's own path, or at the root.
    pub(super) fn is_metadata_path(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let rest = path.strip_prefix(WELL_KNOWN);
        rest.is_some_and(|rest| rest.is_empty() || rest == self.path())
    }

    /// Whether a token for this audience is for this resource. The case of scheme and host is
    /// ignored, and so is a trailing slash.
    pub(super) fn is_named_by(&self, audience: &str) -> bool {
        audience == self.text
            || Self::parse(audience).is_ok_and(|other| {
                other.address.is_same_origin(&self.address)
                    && other.path() == self.path()
                    && other.address.uri().query() == self.address.uri().query()
                    && !audience.contains('#')
            })
    }

    /// Whether a proof was made for a request to this path of the resource (RFC 9449, 4.3): the
    /// path that clients know, or the path that arrived, in case a proxy rewrote it.
    pub(super) fn is_target(&self, htu: &str, path: &str) -> bool {
        let Ok(target) = Address::parse(htu) else {
            return false;
        };
        let given = target.uri().path().trim_end_matches('/');
        target.is_same_origin(&self.address)
            && (given == self.path() || given == path.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_at_the_path_and_at_the_root() {
        let resource = Resource::parse("https://h:8443/a/mcp/").unwrap();
        assert_eq!(resource.as_str(), "https://h:8443/a/mcp");
        assert_eq!(resource.host(), "h:8443");
        assert_eq!(
            resource.metadata_url(),
            "https://h:8443/.well-known/oauth-protected-resource/a/mcp"
        );
        for (path, expected) in [
            ("/.well-known/oauth-protected-resource/a/mcp", true),
            ("/.well-known/oauth-protected-resource", true),
            ("/.well-known/oauth-protected-resource/", true),
            ("/.well-known/oauth-protected-resource/other", false),
            ("/.well-known/oauth-protected-resourcex", false),
            ("/a/mcp", false),
        ] {
            assert_eq!(resource.is_metadata_path(path), expected, "{path}");
        }
        let root = Resource::parse("https://h").unwrap();
        assert_eq!(root.as_str(), "https://h");
        assert_eq!(
            root.metadata_url(),
            "https://h/.well-known/oauth-protected-resource"
        );
    }

    #[test]
    fn an_audience_is_compared_with_the_resource() {
        let resource = Resource::parse("https://host.example/mcp").unwrap();
        for same in [
            "https://host.example/mcp",
            "https://host.example/mcp/",
            "HTTPS://Host.Example:443/mcp",
        ] {
            assert!(resource.is_named_by(same), "{same}");
        }
        for other in [
            "https://host.example",
            "https://host.example/mcp2",
            "https://host.example/MCP",
            "https://host.example/mcp?x=1",
            "https://host.example/mcp#x",
            "http://host.example/mcp",
            "https://host.example:444/mcp",
            "https://evil.example/mcp",
            "host.example/mcp",
            "",
        ] {
            assert!(!resource.is_named_by(other), "{other}");
        }
    }

    #[test]
    fn proofs_are_for_the_resource_or_for_the_path_that_arrived() {
        let resource = Resource::parse("https://h/mcp").unwrap();
        assert!(resource.is_target("https://h/mcp", "/"));
        assert!(resource.is_target("https://h/messages", "/messages"));
        assert!(!resource.is_target("https://h/other", "/mcp"));
        assert!(!resource.is_target("https://evil.example/mcp", "/mcp"));
        assert!(!resource.is_target("nonsense", "/mcp"));
    }
}
