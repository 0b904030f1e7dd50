//! The authorization request: the URL at which the user is asked for consent.

use std::fmt;

use turnbuckle_transport::http::client::Address;

use super::pkce::Pkce;
use super::random::random_text;
use super::{AuthError, Problem, Scopes, Step};
use crate::Secret;

/// A request for the user's consent at an authorization server, which the user opens in a browser.
///
/// [`BrowserVisit::ask`](super::BrowserVisit::ask) gets it. Its `Debug` output leaves out the
/// query, so it can be logged.
pub struct AuthorizationRequest {
    endpoint: Address,
    url: String,
    state: Secret,
    issuer: String,
    server: Address,
    scopes: Scopes,
}

/// The parts of an authorization request.
pub(crate) struct Question<'a> {
    pub(crate) endpoint: &'a str,
    pub(crate) issuer: &'a str,
    pub(crate) server: &'a Address,
    pub(crate) client_id: &'a str,
    pub(crate) redirect_uri: &'a str,
    pub(crate) scopes: &'a Scopes,
    pub(crate) resource: Option<&'a str>,
    pub(crate) pkce: &'a Pkce,
    /// The thumbprint of the key that the code is bound to, if any (RFC 9449, 10).
    pub(crate) key_thumbprint: Option<&'a str>,
}

impl AuthorizationRequest {
    pub(crate) fn new(question: &Question<'_>) -> Result<Self, AuthError> {
        let endpoint = Address::parse(question.endpoint).map_err(|error| {
            let problem = Problem::Malformed("the authorization endpoint is not a URL".to_owned());
            AuthError::new(Step::Authorization, problem).caused_by(error)
        })?;
        let state = random_text();
        let mut query = form_urlencoded::Serializer::new(String::new());
        query
            .append_pair("response_type", "code")
            .append_pair("client_id", question.client_id)
            .append_pair("redirect_uri", question.redirect_uri)
            .append_pair("state", state.expose())
            .append_pair("code_challenge", &question.pkce.challenge)
            .append_pair("code_challenge_method", Pkce::METHOD);
        if !question.scopes.is_empty() {
            query.append_pair("scope", &question.scopes.to_string());
        }
        if let Some(resource) = question.resource {
            query.append_pair("resource", resource);
        }
        if let Some(thumbprint) = question.key_thumbprint {
            query.append_pair("dpop_jkt", thumbprint);
        }
        if question.scopes.contains("offline_access") {
            // OpenID Connect Core, 11: offline access is not granted without asking the user.
            query.append_pair("prompt", "consent");
        }
        let exposed = endpoint.to_exposed_string();
        let mark = if exposed.contains('?') { '&' } else { '?' };
        Ok(Self {
            url: format!("{exposed}{mark}{}", query.finish()),
            endpoint,
            state,
            issuer: question.issuer.to_owned(),
            server: question.server.clone(),
            scopes: question.scopes.clone(),
        })
    }

    /// The URL to open in the user's browser, with its query. It is `https` or on this machine. It
    /// contains the details of the request, so do not log it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The issuer URL of the authorization server. Show it, so that the user knows where they sign in.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The MCP server that the token is for. Show it, so that the user knows who wants the token.
    pub fn server(&self) -> &Address {
        &self.server
    }

    /// The scopes that are requested: those of the server's challenge or metadata, and those of
    /// [`OAuth::scopes`](super::OAuth::scopes).
    pub fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    pub(crate) fn endpoint(&self) -> &Address {
        &self.endpoint
    }

    pub(crate) fn state(&self) -> &Secret {
        &self.state
    }
}

impl fmt::Debug for AuthorizationRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationRequest")
            .field("endpoint", &self.endpoint)
            .field("server", &self.server)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(scopes: &str, resource: Option<&str>) -> AuthorizationRequest {
        AuthorizationRequest::new(&Question {
            endpoint: "https://as.example/authorize?tenant=1",
            issuer: "https://as.example",
            server: &Address::parse("https://host/mcp").unwrap(),
            client_id: "https://app.example/client.json",
            redirect_uri: "http://127.0.0.1:1/callback",
            scopes: &Scopes::parse(scopes),
            resource,
            pkce: &Pkce::new(),
            key_thumbprint: None,
        })
        .unwrap()
    }

    // rule: A8
    #[test]
    fn the_question_has_pkce_state_and_the_resource_as_it_was_published() {
        let request = request("a b", Some("https://host"));
        let (base, query) = request.url().split_once('?').unwrap();
        assert_eq!(base, "https://as.example/authorize");
        let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes())
            .into_owned()
            .collect();
        let value = |name: &str| {
            let mut found = pairs.iter().filter(|(own, _)| own == name);
            let value = found.next().map(|(_, value)| value.as_str());
            assert!(found.next().is_none(), "{name} twice");
            value
        };
        assert_eq!(value("tenant"), Some("1"));
        assert_eq!(value("response_type"), Some("code"));
        assert_eq!(value("code_challenge_method"), Some("S256"));
        assert_eq!(value("code_challenge").unwrap().len(), 43);
        assert_eq!(value("state").unwrap().len(), 43);
        assert_eq!(value("resource"), Some("https://host"));
        assert_eq!(value("scope"), Some("a b"));
        assert_eq!(value("prompt"), None);
        assert!(request.is_answered_by(&format!("?state={}", value("state").unwrap())));
        assert!(!request.is_answered_by("?state=other"));
    }

    #[test]
    fn without_scopes_none_are_asked_for() {
        assert!(!request("", None).url().contains("scope="));
        assert!(
            request("offline_access", None)
                .url()
                .contains("prompt=consent")
        );
    }

    #[test]
    fn what_is_secret_is_not_shown() {
        let request = request("a", None);
        let shown = format!("{request:?}");
        assert!(!shown.contains(request.state().expose()), "{shown}");
        assert!(!shown.contains('?'), "{shown}");
    }
}
