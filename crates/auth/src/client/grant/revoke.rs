//! Revokes tokens (RFC 7009).

use form_urlencoded::Serializer;
use turnbuckle_transport::http::client::HeaderMap;

use super::super::clock::Timestamp;
use super::super::discovery::of_issuer;
use super::super::engine::Engine;
use super::super::token_answer::refusal;
use super::super::token_request::endpoint_of;
use super::super::tokens::Tokens;
use super::super::{AuthError, Problem, Step};

impl Engine {
    /// Revokes tokens, if the authorization server supports it. They are first deleted from the
    /// store, so that they are no longer used, whatever the server answers.
    pub(in super::super) async fn revoke(&self, tokens: &Tokens) -> Result<(), AuthError> {
        const STEP: Step = Step::Revocation;
        self.forget(tokens).await;
        let server = match of_issuer(&self.fetcher, &tokens.issuer).await {
            Ok(server) => server,
            // 2025-03-26 defines no revocation endpoint.
            Err(error) if matches!(error.problem(), Problem::Missing(_)) => return Ok(()),
            Err(error) => return Err(error),
        };
        if server.revocation_endpoint.is_none() {
            return Ok(());
        }
        let endpoint = server.revocation_endpoint.as_deref();
        let endpoint = endpoint_of(STEP, "revocation_endpoint", endpoint, &server)?;
        let identity = self.known_identity(tokens, &server).await?;
        // Revoke the refresh token first: this usually revokes the access tokens too.
        let given = [
            (tokens.refresh.as_ref(), "refresh_token"),
            (Some(&tokens.access), "access_token"),
        ];
        for (token, kind) in given {
            let Some(token) = token else { continue };
            let mut headers = HeaderMap::new();
            // Use a block, so that the serialiser is dropped before the await: it is not `Send`.
            let form = {
                let mut form = Serializer::new(String::new());
                form.append_pair("token", token.expose());
                form.append_pair("token_type_hint", kind);
                if let Some(identity) = &identity {
                    identity.prove(&server, &mut form, &mut headers, Timestamp::now())?;
                }
                form.finish()
            };
            let answer = self.fetcher.form(STEP, &endpoint, headers, form).await?;
            if !answer.status.is_success() {
                let error = refusal(STEP, &endpoint, &answer);
                // RFC 7009, 2.2.1: self-contained tokens cannot be revoked.
                if error.oauth_error() == Some("unsupported_token_type") {
                    continue;
                }
                return Err(
                    error.hint("the tokens were deleted here, and will expire by themselves")
                );
            }
        }
        Ok(())
    }
}
