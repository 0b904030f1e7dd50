//! The client credentials grant: a client that acts for itself (oauth-client-credentials).

use super::super::engine::{Asked, Engine};
use super::super::tokens::Tokens;
use super::super::{AuthError, Problem, Step};

impl Engine {
    pub(in super::super) async fn client_credentials(
        &self,
        asked: &Asked<'_>,
    ) -> Result<Tokens, AuthError> {
        // In this flow the client must always be registered by hand.
        let Some(identity) = self.registered(&asked.found.server).await? else {
            let reason = "the client credentials flow needs a client that is registered by hand";
            let problem = Problem::Missing(reason.to_owned());
            return Err(AuthError::new(Step::Setup, problem)
                .at(&self.server)
                .rule("oauth-client-credentials, \"Overview\"")
                .hint("give the client's id with a secret or a key"));
        };
        let grant = [("grant_type", "client_credentials")];
        self.tokens(asked, Some(&identity), &grant).await
    }
}
