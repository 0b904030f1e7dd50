//! The URLs of the metadata of an authorization server, for clients and guards.

use turnbuckle_transport::http::client::{Address, AddressError};

/// Where the metadata of an authorization server may be.
///
/// authorization-server-discovery, "Authorization Server Metadata Discovery": three places if the
/// issuer has a path, two if it has no path.
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
