//! The URLs of an authorization server's metadata, for clients and guards.

use turnbuckle_transport::http::client::{Address, AddressError};

/// The possible URLs of an authorization server's metadata.
///
/// authorization-server-discovery, "Authorization Server Metadata Discovery": three URLs if the
/// issuer has a path, and two otherwise.
pub(crate) fn places(issuer: &Address) -> Result<Vec<Address>, AddressError> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let path = issuer.uri().path().trim_end_matches('/');
    let mut places = vec![
        issuer.join(&format!("{OAUTH}{path}"))?,
        issuer.join(&format!("{OPENID}{path}"))?,
    ];
    if !path.is_empty() {
        places.push(issuer.join(&format!("{path}{OPENID}"))?);
    }
    Ok(places)
}
