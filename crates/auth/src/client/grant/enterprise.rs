//! Enterprise-managed authorization: a company's identity provider exchanges the user's sign-on for
//! a grant for one server, and this grant is exchanged for a token.

use super::super::discovery::of_issuer;
use super::super::engine::{Asked, Engine};
use super::super::metadata::AuthorizationServer;
use super::super::token_request::TokenRequest;
use super::super::tokens::Tokens;
use super::super::{AuthError, Enterprise, Problem, Step};
use super::workload::JWT_BEARER;
use crate::Secret;

/// RFC 8693, 2.1.
pub(super) const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";

/// The requested token type: an identity assertion authorization grant.
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

impl Engine {
    pub(in super::super) async fn enterprise(
        &self,
        asked: &Asked<'_>,
        enterprise: &Enterprise,
    ) -> Result<Tokens, AuthError> {
        let grant = self.exchange(asked, enterprise).await?;
        let server = &asked.found.server;
        let identity = match self.registered(server).await? {
            Some(identity) => Some(identity),
            None => self.documented(server)?,
        };
        let identity = identity.ok_or_else(|| {
            let reason = "the client has no id at the server's authorization server";
            AuthError::new(Step::Setup, Problem::Missing(reason.to_owned()))
                .at(&self.server)
                .rule("enterprise-managed authorization, 6.1")
                .hint("give the client's id there, with its secret or key")
        })?;
        let form = [("grant_type", JWT_BEARER), ("assertion", grant.expose())];
        self.tokens(asked, Some(&identity), &form).await
    }

    /// Exchanges the sign-on for a grant.
    async fn exchange(
        &self,
        asked: &Asked<'_>,
        enterprise: &Enterprise,
    ) -> Result<Secret, AuthError> {
        const STEP: Step = Step::Exchange;
        let provider = self.provider(enterprise).await?;
        let sign_on = enterprise.assertion.assertion(&enterprise.issuer).await;
        let sign_on = sign_on.map_err(|error| {
            let problem = Problem::Missing("the identity provider's sign-on is missing".to_owned());
            AuthError::new(STEP, problem)
                .hint("sign in at the identity provider first")
                .caused_by(error)
        })?;
        let server = self.server.to_string();
        let resource = asked.found.resource.as_deref().unwrap_or(&server);
        let scopes = asked.scopes.to_string();
        let mut form = vec![
            ("grant_type", TOKEN_EXCHANGE),
            ("requested_token_type", ID_JAG),
            ("audience", &asked.found.server.issuer),
            ("resource", resource),
            ("subject_token", sign_on.expose()),
            ("subject_token_type", enterprise.kind),
        ];
        if !scopes.is_empty() {
            form.push(("scope", &scopes));
        }
        let request = TokenRequest {
            step: STEP,
            server: &provider,
            identity: Some(&enterprise.client.identity),
            key: None,
            form: &form,
        };
        let answer = self.request_token(&request).await?;
        match answer.issued_token_type.as_deref() {
            Some(ID_JAG) => Ok(answer.access_token),
            other => {
                let problem = Problem::Mismatch {
                    what: "`issued_token_type`",
                    expected: ID_JAG.to_owned(),
                    found: super::super::error::shown(other.unwrap_or("missing")),
                };
                Err(AuthError::new(STEP, problem).rule("enterprise-managed authorization, 4.2"))
            }
        }
    }

    async fn provider(&self, enterprise: &Enterprise) -> Result<AuthorizationServer, AuthError> {
        match &enterprise.token_endpoint {
            Some(endpoint) => Ok(AuthorizationServer {
                issuer: enterprise.issuer.clone(),
                token_endpoint: Some(endpoint.clone()),
                ..AuthorizationServer::default()
            }),
            None => of_issuer(&self.fetcher, &enterprise.issuer).await,
        }
    }
}
