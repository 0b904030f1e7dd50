//! Workload identity: the assertion of the client's platform is the grant (RFC 7523, 2.1).

use super::super::engine::{Asked, Engine};
use super::super::tokens::Tokens;
use super::super::{Assertion, AuthError, Problem, Step};

/// RFC 7523, 2.1.
pub(super) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

impl Engine {
    pub(in super::super) async fn workload(
        &self,
        asked: &Asked<'_>,
        assertion: &dyn Assertion,
    ) -> Result<Tokens, AuthError> {
        let issuer = &asked.found.server.issuer;
        let assertion = assertion.assertion(issuer).await.map_err(|error| {
            let problem = Problem::Missing("the platform gave no assertion".to_owned());
            AuthError::new(Step::Token, problem)
                .at(&self.server)
                .caused_by(error)
        })?;
        let identity = self.registered(&asked.found.server).await?;
        let grant = [
            ("grant_type", JWT_BEARER),
            ("assertion", assertion.expose()),
        ];
        // Do not retry a refusal: the platform's rules do not change by asking again.
        self.tokens(asked, identity.as_ref(), &grant).await
    }
}
