//! Discovery: finds the authorization server of an MCP server from a refusal.

use turnbuckle_transport::http::client::{Address, HeaderMap, HeaderValue, StatusCode};

use super::challenge::Wanted;
use super::fetch::{Fetcher, Found};
use super::metadata::{AuthorizationServer, ProtectedResource, well_known};
use super::{AuthError, Problem, Scopes, Step};

/// The result of discovery for a protected server.
#[derive(Clone, Debug)]
pub(crate) struct Discovered {
    /// The resource that tokens are requested for, exactly as published. `None` in 2025-03-26,
    /// which has no resource parameter.
    pub(crate) resource: Option<String>,
    /// The supported scopes, according to the resource's metadata.
    pub(crate) scopes: Option<Scopes>,
    /// Whether the resource accepts tokens that are bound to a key.
    pub(crate) takes_dpop: bool,
    /// Whether the resource requires tokens that are bound to a key.
    pub(crate) wants_dpop: bool,
    /// The authorization server.
    pub(crate) server: AuthorizationServer,
    /// How the authorization server was found.
    pub(crate) way: Way,
}

/// How an authorization server was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By the resource's metadata.
    Published,
    /// The MCP server is its own authorization server, as in 2025-03-26.
    Legacy,
}

/// Finds the authorization server of an MCP server.
///
/// `known` is the issuer that the client is registered with, if it was set.
pub(crate) async fn discover(
    fetcher: &Fetcher,
    server: &Address,
    wanted: &Wanted,
    known: Option<&str>,
) -> Result<Discovered, AuthError> {
    let Some(resource) = resource(fetcher, server, wanted).await? else {
        tracing::debug!(server = %server, "no metadata; falling back to revision 2025-03-26");
        return legacy(fetcher, server).await;
    };
    let issuer = choose(&resource, server, known)?;
    let listed = |algorithms: &[String]| algorithms.iter().any(|one| one == "ES256");
    let takes_dpop = resource
        .dpop_signing_alg_values_supported
        .as_deref()
        .is_some_and(listed);
    let scopes = resource.scopes_supported.as_ref();
    Ok(Discovered {
        server: of_issuer(fetcher, &issuer).await?,
        scopes: scopes.map(|scopes| scopes.iter().map(String::as_str).collect()),
        takes_dpop,
        wants_dpop: resource.dpop_bound_access_tokens_required,
        resource: Some(resource.resource),
        way: Way::Published,
    })
}

/// A4: the URL from the refusal, otherwise the well-known URL below the path, otherwise the one at
/// the root.
async fn resource(
    fetcher: &Fetcher,
    server: &Address,
    wanted: &Wanted,
) -> Result<Option<ProtectedResource>, AuthError> {
    let mut places = Vec::new();
    if let Some(told) = &wanted.resource_metadata {
        places.push(server.join(told).map_err(|error| {
            let problem = Problem::Malformed("`resource_metadata` is not a URL".to_owned());
            AuthError::new(Step::ResourceMetadata, problem)
                .at(server)
                .caused_by(error)
        })?);
    }
    let usual = well_known::of_resource(server);
    places.extend(usual.map_err(|error| no_url(Step::ResourceMetadata, server, error))?);
    for place in &places {
        match fetcher.document(Step::ResourceMetadata, place).await? {
            Found::Document(document) => return checked(document, server, place).map(Some),
            Found::Nothing(status) => is_absent(Step::ResourceMetadata, place, status)?,
        }
    }
    Ok(None)
}

fn checked(
    document: ProtectedResource,
    server: &Address,
    place: &Address,
) -> Result<ProtectedResource, AuthError> {
    if document.is_of(server) {
        return Ok(document);
    }
    let problem = Problem::Mismatch {
        what: "`resource`",
        expected: server.to_string(),
        found: super::error::shown(&document.resource),
    };
    Err(AuthError::new(Step::ResourceMetadata, problem)
        .at(place)
        .rule("RFC 9728, 3.3")
        .hint("connect to the address in the server's metadata, if you trust it"))
}

fn choose(
    resource: &ProtectedResource,
    server: &Address,
    known: Option<&str>,
) -> Result<String, AuthError> {
    let servers = &resource.authorization_servers;
    let Some(first) = servers.first() else {
        let problem = Problem::Missing("`authorization_servers` is missing or empty".to_owned());
        return Err(AuthError::new(Step::ResourceMetadata, problem)
            .at(server)
            .rule("authorization-server-discovery, \"Authorization Server Location\""));
    };
    match known {
        None => Ok(first.clone()),
        Some(known) if servers.iter().any(|one| one == known) => Ok(known.to_owned()),
        // A15: an error is better than sending credentials to the wrong server.
        Some(known) => {
            let problem = Problem::Mismatch {
                what: "the authorization server",
                expected: known.to_owned(),
                found: super::error::shown(&servers.join(", ")),
            };
            Err(AuthError::new(Step::ResourceMetadata, problem)
                .at(server)
                .rule("client-registration, \"Authorization Server Binding\"")
                .hint("register the client there and give its new id, if the server has moved"))
        }
    }
}

/// A5 and A6: the possible URLs in order. A document is accepted only if its `issuer` is the expected one.
pub(crate) async fn of_issuer(
    fetcher: &Fetcher,
    issuer: &str,
) -> Result<AuthorizationServer, AuthError> {
    const STEP: Step = Step::ServerMetadata;
    let address = Address::parse(issuer).map_err(|error| {
        let problem =
            Problem::Malformed("the authorization server's issuer is not a URL".to_owned());
        AuthError::new(STEP, problem).caused_by(error)
    })?;
    let places =
        crate::issuer_metadata::places(&address).map_err(|error| no_url(STEP, &address, error))?;
    for place in &places {
        match fetcher.document::<AuthorizationServer>(STEP, place).await? {
            Found::Document(document) if document.issuer == issuer => return Ok(document),
            Found::Document(document) => {
                return Err(wrong_issuer(issuer, &document.issuer, place));
            }
            Found::Nothing(status) => is_absent(STEP, place, status)?,
        }
    }
    let count = places.len();
    let problem = Problem::Missing(format!(
        "no metadata was found at any of the {count} possible URLs"
    ));
    Err(AuthError::new(STEP, problem)
        .at(&address)
        .rule("authorization-server-discovery, \"Authorization Server Metadata Discovery\"")
        .hint("the authorization server has to publish RFC 8414 or OpenID Connect metadata"))
}

fn wrong_issuer(expected: &str, found: &str, place: &Address) -> AuthError {
    let problem = Problem::Mismatch {
        what: "`issuer`",
        expected: expected.to_owned(),
        found: super::error::shown(found),
    };
    AuthError::new(Step::ServerMetadata, problem)
        .at(place)
        .rule("RFC 8414, 3.3")
        .hint("the metadata is not used; both issuers must be equal, to the last slash")
}

/// A7: a document at the root, or otherwise the default endpoints.
async fn legacy(fetcher: &Fetcher, server: &Address) -> Result<Discovered, AuthError> {
    const STEP: Step = Step::ServerMetadata;
    let base = well_known::base(server).map_err(|error| no_url(STEP, server, error))?;
    let places =
        crate::issuer_metadata::places(&base).map_err(|error| no_url(STEP, server, error))?;
    let base = base.to_string();
    let mut found = AuthorizationServer::by_default(&base);
    // 2025-03-26, authorization, 2.3.2: this discovery SHOULD send the protocol version.
    let mut headers = HeaderMap::new();
    headers.insert(
        "mcp-protocol-version",
        HeaderValue::from_static("2025-03-26"),
    );
    for place in &places {
        let headers = headers.clone();
        match fetcher
            .document_with::<AuthorizationServer>(STEP, place, headers)
            .await?
        {
            Found::Document(document) => {
                let issuer = document.issuer.trim_end_matches('/');
                if issuer != base.trim_end_matches('/') {
                    return Err(wrong_issuer(
                        base.trim_end_matches('/'),
                        &document.issuer,
                        place,
                    ));
                }
                found = document;
                break;
            }
            Found::Nothing(status) => is_absent(STEP, place, status)?,
        }
    }
    Ok(Discovered {
        resource: None,
        scopes: None,
        takes_dpop: false,
        wants_dpop: false,
        server: found,
        way: Way::Legacy,
    })
}

/// A server error does not mean that there is no metadata: falling back would ask the wrong server.
fn is_absent(step: Step, place: &Address, status: StatusCode) -> Result<(), AuthError> {
    if !status.is_server_error() && status != StatusCode::TOO_MANY_REQUESTS {
        return Ok(());
    }
    let problem = Problem::Refused {
        status: status.as_u16(),
        error: None,
        description: None,
    };
    Err(AuthError::new(step, problem)
        .at(place)
        .hint("try again later"))
}

fn no_url(
    step: Step,
    at: &Address,
    error: turnbuckle_transport::http::client::AddressError,
) -> AuthError {
    let problem = Problem::Malformed("no metadata URL can be built from this URL".to_owned());
    AuthError::new(step, problem).at(at).caused_by(error)
}
