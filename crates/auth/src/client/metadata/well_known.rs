//! The URLs of metadata documents, and the order in which they are tried.

use turnbuckle_transport::http::client::{Address, AddressError};

/// The possible URLs of a resource's metadata, if the refusal does not name one.
///
/// authorization-server-discovery, "Protected Resource Metadata Discovery": below the path of the
/// endpoint, then at the root.
pub(crate) fn of_resource(server: &Address) -> Result<Vec<Address>, AddressError> {
    const NAME: &str = "/.well-known/oauth-protected-resource";
    let path = server.uri().path();
    let mut places = vec![];
    if !path.trim_end_matches('/').is_empty() {
        places.push(server.join(&format!("{NAME}{path}"))?);
    }
    places.push(server.join(NAME)?);
    Ok(places)
}

/// The base URL of a 2025-03-26 server that is its own authorization server: without the path.
pub(crate) fn base(server: &Address) -> Result<Address, AddressError> {
    server.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(places: Result<Vec<Address>, AddressError>) -> Vec<String> {
        let places = places.unwrap();
        places.iter().map(Address::to_exposed_string).collect()
    }

    #[test]
    fn resources_are_looked_for_by_path_and_then_at_the_root() {
        let at = |text| texts(of_resource(&Address::parse(text).unwrap()));
        assert_eq!(
            at("https://h:8443/a/mcp?key=secret"),
            [
                "https://h:8443/.well-known/oauth-protected-resource/a/mcp",
                "https://h:8443/.well-known/oauth-protected-resource",
            ]
        );
        assert_eq!(
            at("https://h/"),
            ["https://h/.well-known/oauth-protected-resource"]
        );
        assert_eq!(
            at("https://h"),
            ["https://h/.well-known/oauth-protected-resource"]
        );
    }

    #[test]
    fn issuers_with_a_path_have_three_places() {
        let at = |text| {
            texts(crate::issuer_metadata::places(
                &Address::parse(text).unwrap(),
            ))
        };
        for issuer in ["https://h/t", "https://h/t/"] {
            assert_eq!(
                at(issuer),
                [
                    "https://h/.well-known/oauth-authorization-server/t",
                    "https://h/.well-known/openid-configuration/t",
                    "https://h/t/.well-known/openid-configuration",
                ]
            );
        }
        assert_eq!(
            at("https://h"),
            [
                "https://h/.well-known/oauth-authorization-server",
                "https://h/.well-known/openid-configuration",
            ]
        );
    }
}
