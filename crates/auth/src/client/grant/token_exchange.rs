//! Exchanges a caller's token for a token of the server (RFC 8693).

use super::super::engine::{Asked, Engine};
use super::super::identity::ClientIdentity;
use super::super::settings::Exchange;
use super::super::tokens::Tokens;
use super::super::{AuthError, Problem, Step};
use super::enterprise::TOKEN_EXCHANGE;
use crate::Secret;

/// RFC 8693, 3.
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

impl Engine {
    pub(in super::super) async fn token_exchange(
        &self,
        asked: &Asked<'_>,
        exchange: &Exchange,
    ) -> Result<Tokens, AuthError> {
        let Some(identity) = self.registered(&asked.found.server).await? else {
            let reason = "token exchange needs a client that is registered by hand";
            let problem = Problem::Missing(reason.to_owned());
            return Err(AuthError::new(Step::Setup, problem)
                .at(&self.server)
                .rule("RFC 8693, 2.1")
                .hint("give the client's id with a secret or a key"));
        };
        let subject = exchange.subject.secret();
        let exchanged = self.exchanged(asked, &identity, exchange, &subject).await;
        match exchanged {
            // The token may have been revoked, and the caller may have sent a newer one since.
            Err(error) if is_refused(&error) && exchange.subject.replace(&subject) => {
                let subject = exchange.subject.secret();
                self.exchanged(asked, &identity, exchange, &subject).await
            }
            exchanged => exchanged,
        }
    }

    async fn exchanged(
        &self,
        asked: &Asked<'_>,
        identity: &ClientIdentity,
        exchange: &Exchange,
        subject: &Secret,
    ) -> Result<Tokens, AuthError> {
        let mut form = vec![
            ("grant_type", TOKEN_EXCHANGE),
            ("subject_token", subject.expose()),
            ("subject_token_type", ACCESS_TOKEN),
            ("requested_token_type", ACCESS_TOKEN),
        ];
        if let Some(audience) = &exchange.audience {
            form.push(("audience", audience));
        }
        self.tokens(asked, Some(identity), &form).await
    }
}

/// Whether the subject token was refused. RFC 8693, 2.2.2, requires `invalid_request`, but many
/// servers answer `invalid_grant`.
fn is_refused(error: &AuthError) -> bool {
    matches!(
        error.oauth_error(),
        Some("invalid_grant" | "invalid_request")
    )
}
