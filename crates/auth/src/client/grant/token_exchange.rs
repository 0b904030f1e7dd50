//! A token of the caller becomes a token of the server (RFC 8693).

use super::super::engine::{Asked, Engine};
use super::super::settings::Exchange;
use super::super::tokens::Tokens;
use super::super::{AuthError, Problem, Step};
use super::enterprise::TOKEN_EXCHANGE;

/// RFC 8693, 3.
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

impl Engine {
    pub(in super::super) async fn token_exchange(
        &self,
        asked: &Asked<'_>,
        exchange: &Exchange,
    ) -> Result<Tokens, AuthError> {
        let Some(identity) = self.registered(&asked.found.server).await? else {
            let reason = "tokens are exchanged by a client that is registered by hand";
            let problem = Problem::Missing(reason.to_owned());
            return Err(AuthError::new(Step::Setup, problem)
                .at(&self.server)
                .rule("RFC 8693, 2.1")
                .hint("give the client's id with a secret or a key"));
        };
        let subject = exchange.subject.secret();
        let mut form = vec![
            ("grant_type", TOKEN_EXCHANGE),
            ("subject_token", subject.expose()),
            ("subject_token_type", ACCESS_TOKEN),
            ("requested_token_type", ACCESS_TOKEN),
        ];
        if let Some(audience) = &exchange.audience {
            form.push(("audience", audience));
        }
        self.tokens(asked, Some(&identity), &form).await
    }
}
