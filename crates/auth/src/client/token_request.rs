//! Requests to token endpoints.

use std::sync::Arc;

use form_urlencoded::Serializer;
use turnbuckle_transport::http::client::{Address, HeaderMap, Method};

use super::clock::Timestamp;
use super::dpop::{self, ProofKey};
use super::engine::{Asked, Engine};
use super::identity::ClientIdentity;
use super::metadata::AuthorizationServer;
use super::token_answer::TokenAnswer;
use super::tokens::{Request, Tokens};
use super::{AuthError, Problem, Step};

/// At most 2 tries: one without the nonce that the server requires, and one with it.
const MAX_TRIES: usize = 2;

/// RFC 8693, 3: token types that can be used at a server.
const ACCESS_TOKEN_TYPES: [&str; 2] = [
    "urn:ietf:params:oauth:token-type:access_token",
    "urn:ietf:params:oauth:token-type:jwt",
];

/// One request to a token endpoint.
pub(crate) struct TokenRequest<'a> {
    pub(crate) step: Step,
    pub(crate) server: &'a AuthorizationServer,
    pub(crate) identity: Option<&'a ClientIdentity>,
    pub(crate) key: Option<&'a Arc<ProofKey>>,
    pub(crate) form: &'a [(&'a str, &'a str)],
}

impl Engine {
    /// Requests the tokens of a grant, with the resource and the scopes.
    pub(crate) async fn tokens(
        &self,
        asked: &Asked<'_>,
        identity: Option<&ClientIdentity>,
        grant: &[(&str, &str)],
    ) -> Result<Tokens, AuthError> {
        let scopes = asked.scopes.to_string();
        let mut form = grant.to_vec();
        // A8: sent whether or not the authorization server supports it.
        form.extend(
            asked
                .found
                .resource
                .as_deref()
                .map(|resource| ("resource", resource)),
        );
        // A code is already bound to its scopes.
        let has_code = grant.contains(&("grant_type", "authorization_code"));
        if !scopes.is_empty() && !has_code {
            form.push(("scope", &scopes));
        }
        let server = &asked.found.server;
        let answer = self
            .request_token(&TokenRequest {
                step: Step::Token,
                server,
                identity,
                key: asked.key,
                form: &form,
            })
            .await?;
        if let Some(kind) = answer.issued_token_type.as_deref()
            && !ACCESS_TOKEN_TYPES.contains(&kind)
        {
            let problem = Problem::Mismatch {
                what: "`issued_token_type`",
                expected: ACCESS_TOKEN_TYPES[0].to_owned(),
                found: super::error::shown(kind),
            };
            return Err(AuthError::new(Step::Token, problem).rule("RFC 8693, 2.2.1"));
        }
        let request = Request {
            issuer: &server.issuer,
            resource: asked.found.resource.as_deref(),
            client_id: identity.map(|identity| identity.client_id.as_str()),
            requested: asked.scopes,
            key: asked.key,
        };
        Tokens::new(answer, &request, Timestamp::now())
    }

    pub(crate) async fn request_token(
        &self,
        request: &TokenRequest<'_>,
    ) -> Result<TokenAnswer, AuthError> {
        let TokenRequest { step, server, .. } = *request;
        let endpoint = server.token_endpoint.as_deref();
        let endpoint = endpoint_of(step, "token_endpoint", endpoint, server)?;
        let mut tries = 0;
        loop {
            let (headers, form) = self.token_form(request, &endpoint)?;
            let answer = self.fetcher.form(step, &endpoint, headers, form).await?;
            let has_nonce = self.nonces.note(&endpoint, &answer.headers);
            let read = TokenAnswer::read(step, &endpoint, &answer);
            tries += 1;
            match read {
                // RFC 9449, 8: repeat the request with the nonce.
                Err(error)
                    if error.oauth_error() == Some("use_dpop_nonce")
                        && has_nonce
                        && request.key.is_some()
                        && tries < MAX_TRIES => {}
                read => return read,
            }
        }
    }

    fn token_form(
        &self,
        request: &TokenRequest<'_>,
        endpoint: &Address,
    ) -> Result<(HeaderMap, String), AuthError> {
        let now = Timestamp::now();
        let mut headers = HeaderMap::new();
        let mut form = Serializer::new(String::new());
        form.extend_pairs(request.form);
        if let Some(identity) = request.identity {
            identity.prove(request.server, &mut form, &mut headers, now)?;
        }
        if let Some(key) = request.key {
            let proof = self.nonces.prove(key, &Method::POST, endpoint, None, now)?;
            headers.insert(dpop::HEADER, proof);
        }
        Ok((headers, form.finish()))
    }
}

/// An endpoint from the metadata.
pub(crate) fn endpoint_of(
    step: Step,
    name: &'static str,
    url: Option<&str>,
    server: &AuthorizationServer,
) -> Result<Address, AuthError> {
    let named = |problem| {
        let error = AuthError::new(step, problem).rule("RFC 8414, 2");
        match Address::parse(&server.issuer) {
            Ok(issuer) => error.at(&issuer),
            Err(_) => error,
        }
    };
    let Some(url) = url else {
        return Err(named(Problem::Missing(format!(
            "the authorization server's metadata has no `{name}`"
        ))));
    };
    Address::parse(url).map_err(|error| {
        named(Problem::Malformed(format!("`{name}` is not a URL"))).caused_by(error)
    })
}
