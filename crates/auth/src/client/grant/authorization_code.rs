//! The authorization code grant: the user is asked in their browser.

use std::time::Duration;

use turnbuckle_transport::http::client::Address;

use super::super::authorization_request::{AuthorizationRequest, Question};
use super::super::authorization_response::{self, Naming};
use super::super::clock::Timestamp;
use super::super::discovery::Way;
use super::super::engine::{Asked, Engine};
use super::super::identity::{ClientIdentity, ClientProof};
use super::super::metadata::AuthorizationServer;
use super::super::pkce::Pkce;
use super::super::registration::{ClientDescription, Registration, register};
use super::super::settings::KeptRegistration;
use super::super::token_request::endpoint_of;
use super::super::tokens::Tokens;
use super::super::{AuthError, BrowserVisit, Problem, Step};
use crate::Secret;

/// 10 min for a user to sign in, including a second factor that they have to find first.
const PERSON_TIMEOUT: Duration = Duration::from_mins(10);

impl Engine {
    pub(in super::super) async fn authorization_code(
        &self,
        asked: &Asked<'_>,
    ) -> Result<Tokens, AuthError> {
        let server = &asked.found.server;
        check_pkce(asked)?;
        let endpoint = server.authorization_endpoint.as_deref();
        let endpoint = endpoint_of(
            Step::Authorization,
            "authorization_endpoint",
            endpoint,
            server,
        )?;
        // The URL is opened on the user's machine, so `file:` and similar schemes must be refused.
        self.settings.reach.check_visit(&endpoint, &self.server)?;
        let visit = self.visit(server).await?;
        let redirect_uri = visit.redirect_uri().to_owned();
        check_redirect(&redirect_uri)?;
        let identity = self.identity(server, &redirect_uri, asked).await?;
        let pkce = Pkce::new();
        let request = AuthorizationRequest::new(&Question {
            endpoint: &endpoint.to_exposed_string(),
            issuer: &server.issuer,
            server: &self.server,
            client_id: &identity.client_id,
            redirect_uri: &redirect_uri,
            scopes: asked.scopes,
            resource: asked.found.resource.as_deref(),
            pkce: &pkce,
            key_thumbprint: asked.key.map(|key| key.thumbprint()),
        })?;
        let code = ask(visit, &request, server).await?;
        let grant = [
            ("grant_type", "authorization_code"),
            ("code", code.expose()),
            ("redirect_uri", &redirect_uri),
            ("code_verifier", pkce.verifier.expose()),
        ];
        let tokens = self.tokens(asked, Some(&identity), &grant).await;
        if let Err(error) = &tokens
            && matches!(
                error.oauth_error(),
                Some("invalid_client" | "unauthorized_client")
            )
        {
            // The registration no longer exists. Forget it, so that the next attempt registers again.
            self.forget_registration(&server.issuer).await;
        }
        tokens
    }

    async fn visit(
        &self,
        server: &AuthorizationServer,
    ) -> Result<Box<dyn BrowserVisit>, AuthError> {
        let made = self.kept_registration(server).await;
        let known = made.map(|made| made.redirect_uris).unwrap_or_default();
        let prepared = self.settings.browser.prepare(&known).await;
        prepared.map_err(|error| {
            let problem =
                Problem::Unanswered("cannot receive the authorization response".to_owned());
            AuthError::new(Step::Authorization, problem)
                .at(&self.server)
                .caused_by(error)
        })
    }

    /// The registration of an earlier sign-in, if it may be used.
    async fn kept_registration(&self, server: &AuthorizationServer) -> Option<Registration> {
        match self.settings.kept_registration {
            KeptRegistration::Use => self.load_registration(&server.issuer).await,
            KeptRegistration::Replace => None,
        }
    }

    /// A18: a client that is registered by hand, otherwise one with a metadata document, otherwise
    /// dynamic registration.
    pub(super) async fn identity(
        &self,
        server: &AuthorizationServer,
        redirect_uri: &str,
        asked: &Asked<'_>,
    ) -> Result<ClientIdentity, AuthError> {
        if let Some(identity) = self.registered(server).await? {
            return Ok(identity);
        }
        if let Some(identity) = self.documented(server)? {
            return Ok(identity);
        }
        let made = self.kept_registration(server).await;
        if let Some(made) = made
            && made.is_good_for(redirect_uri, Timestamp::now())
        {
            return Ok(made.identity());
        }
        let endpoint = server.registration_endpoint.as_deref();
        let endpoint = endpoint_of(
            Step::Registration,
            "registration_endpoint",
            endpoint,
            server,
        )
        .map_err(|error| error.hint("register a client by hand and give its id"))?;
        let description = ClientDescription {
            name: &self.settings.name,
            redirect_uri,
            is_bound: asked.key.is_some(),
        };
        let made = register(&self.fetcher, server, &endpoint, &description).await?;
        self.keep_registration(&server.issuer, &made).await;
        Ok(made.identity())
    }

    /// The client that is registered by hand, if any. A15: it is used only with its own issuer.
    pub(super) async fn registered(
        &self,
        server: &AuthorizationServer,
    ) -> Result<Option<ClientIdentity>, AuthError> {
        let Some(registered) = &self.settings.registered else {
            return Ok(None);
        };
        let client_id = &registered.identity.client_id;
        let issuer = match &registered.issuer {
            Some(issuer) => issuer.clone(),
            None => self.bound_issuer(client_id, &server.issuer).await,
        };
        if issuer == server.issuer {
            return Ok(Some(registered.identity.clone()));
        }
        let problem = Problem::Mismatch {
            what: "the authorization server",
            expected: issuer,
            found: server.issuer.clone(),
        };
        Err(AuthError::new(Step::Registration, problem)
            .at(&self.server)
            .rule("client-registration, \"Authorization Server Binding\"")
            .hint("register the client there and give its new id, if the server has moved"))
    }

    /// A17: the client whose id is the URL of its metadata document, if the authorization server
    /// supports such documents.
    pub(super) fn documented(
        &self,
        server: &AuthorizationServer,
    ) -> Result<Option<ClientIdentity>, AuthError> {
        let Some(document) = &self.settings.document else {
            return Ok(None);
        };
        if !server.client_id_metadata_document_supported {
            return Ok(None);
        }
        let address = Address::parse(document).ok();
        let is_right =
            address.is_some_and(|address| address.is_https() && address.uri().path() != "/");
        if !is_right || document.contains('#') {
            let reason = "the client's metadata document must be at an `https` URL with a path";
            return Err(
                AuthError::new(Step::Setup, Problem::Malformed(reason.to_owned()))
                    .rule("client-registration, \"Client ID Metadata Documents\""),
            );
        }
        Ok(Some(ClientIdentity {
            client_id: document.clone(),
            proof: match &self.settings.document_key {
                Some(key) => ClientProof::Key(key.clone()),
                None => ClientProof::None,
            },
            method: None,
        }))
    }
}

async fn ask(
    visit: Box<dyn BrowserVisit>,
    request: &AuthorizationRequest,
    server: &AuthorizationServer,
) -> Result<Secret, AuthError> {
    let unanswered = |reason: String| {
        AuthError::new(Step::Authorization, Problem::Unanswered(reason))
            .at(request.endpoint())
            .hint("sign in again; register again if the page said that the client is unknown")
    };
    let answered = tokio::time::timeout(PERSON_TIMEOUT, visit.ask(request)).await;
    let answer = match answered {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            return Err(
                unanswered("the user did not return from the browser".to_owned()).caused_by(error),
            );
        }
        Err(_) => {
            return Err(unanswered(format!(
                "the user did not return from the browser within {PERSON_TIMEOUT:?}"
            )));
        }
    };
    let naming = if server.authorization_response_iss_parameter_supported {
        Naming::Promised
    } else {
        Naming::NotPromised
    };
    authorization_response::check(answer.expose(), request, naming)
}

/// A10: refuse if PKCE support is not advertised. Servers of 2025-03-26 need not advertise it.
fn check_pkce(asked: &Asked<'_>) -> Result<(), AuthError> {
    let server = &asked.found.server;
    let is_silent = server.code_challenge_methods_supported.is_none();
    if server.knows_s256() || (asked.found.way == Way::Legacy && is_silent) {
        return Ok(());
    }
    let reason = "the authorization server does not declare PKCE with S256";
    let error = AuthError::new(
        Step::ServerMetadata,
        Problem::Unsupported(reason.to_owned()),
    )
    .rule("security considerations, \"Authorization Code Protection\"")
    .hint("its metadata has to list S256 in `code_challenge_methods_supported`");
    Err(match Address::parse(&server.issuer) {
        Ok(issuer) => error.at(&issuer),
        Err(_) => error,
    })
}

/// A20: the redirect URI must be on this machine or `https`. RFC 8252 also allows private-use URI
/// schemes; the MCP specification does not.
fn check_redirect(uri: &str) -> Result<(), AuthError> {
    let is_right = |address: Address| address.is_https() || address.is_loopback();
    if Address::parse(uri).is_ok_and(is_right) {
        return Ok(());
    }
    let reason = "the redirect URI must be on this machine (`http://127.0.0.1:…`) or `https`; an \
                  application must use one of its `https` links";
    Err(
        AuthError::new(Step::Setup, Problem::Forbidden(reason.to_owned()))
            .rule("security considerations, \"Communication Security\""),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    // rule: A20
    /// A20.
    #[test]
    fn people_are_not_sent_back_just_anywhere() {
        for (uri, is_right) in [
            ("http://127.0.0.1:1/callback", true),
            ("http://localhost:1/callback", true),
            ("https://app.example/callback", true),
            ("com.example.app:/callback", false),
            ("http://app.example/callback", false),
            ("http://localhost.example/callback", false),
            ("javascript:alert(1)", false),
            ("callback", false),
        ] {
            assert_eq!(check_redirect(uri).is_ok(), is_right, "{uri}");
        }
    }
}
