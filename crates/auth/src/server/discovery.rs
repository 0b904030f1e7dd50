//! The metadata of an issuer (RFC 8414, OpenID Connect Discovery).

use serde_json::Value;
use turnbuckle_transport::http::client::Address;

use super::{fetch::IssuerFetcher, verify::VerifyError};
use crate::issuer_metadata;

/// Finds an endpoint in the issuer's metadata.
pub(super) async fn endpoint(
    fetcher: &IssuerFetcher,
    issuer: &str,
    member: &str,
) -> Result<Address, VerifyError> {
    let places = Address::parse(issuer).and_then(|issuer| issuer_metadata::places(&issuer));
    let places = places.map_err(|error| unavailable(issuer, &error.to_string()))?;
    let mut tried = Vec::new();
    for place in &places {
        match fetcher.document(place).await {
            Ok(document) => return read(&document, issuer, member),
            // The document may be at the next URL. Other failures end the search.
            Err(unread) if unread.status.is_some_and(|status| status.is_client_error()) => {
                tried.push(unread.reason);
            }
            Err(unread) => return Err(unavailable(issuer, &unread.reason)),
        }
    }
    Err(unavailable(
        issuer,
        &format!("no metadata was found ({})", tried.join("; ")),
    ))
}

fn read(document: &Value, issuer: &str, member: &str) -> Result<Address, VerifyError> {
    let said = document["issuer"].as_str().unwrap_or_default();
    // RFC 8414, 3.3: metadata of another issuer MUST NOT be used.
    if said != issuer {
        let reason = format!("its metadata names the issuer `{said}`: write it exactly like that");
        return Err(unavailable(issuer, &reason));
    }
    let url = document[member].as_str();
    let url = url.and_then(|url| Address::parse(url).ok());
    url.ok_or_else(|| unavailable(issuer, &format!("its metadata has no `{member}`")))
}

fn unavailable(issuer: &str, reason: &str) -> VerifyError {
    VerifyError::Unavailable(format!("issuer `{issuer}`: {reason}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn metadata_of_another_issuer_is_not_believed() {
        let document = json!({ "issuer": "https://a.example/", "jwks_uri": "https://a.example/k" });
        let found = read(&document, "https://a.example/", "jwks_uri").unwrap();
        assert_eq!(found.to_string(), "https://a.example/k");
        for (issuer, member) in [
            ("https://a.example", "jwks_uri"),
            ("https://b.example/", "jwks_uri"),
            ("https://a.example/", "introspection_endpoint"),
        ] {
            read(&document, issuer, member).unwrap_err();
        }
        read(&json!([]), "https://a.example/", "jwks_uri").unwrap_err();
    }
}
