//! Renews tokens with a refresh token, without asking the user.

use turnbuckle_transport::http::client::BoxError;

use super::super::clock::Timestamp;
use super::super::engine::Engine;
use super::super::identity::ClientIdentity;
use super::super::metadata::AuthorizationServer;
use super::super::token_request::TokenRequest;
use super::super::tokens::{Request, TokenState, Tokens};
use super::super::{AuthError, Problem, Step};

impl Engine {
    /// Renews tokens. Returns `None` if this is impossible and new tokens have to be granted.
    ///
    /// Processes that share the store take turns: a refresh token can be used once, and a second
    /// use is treated as theft.
    pub(in super::super) async fn refresh(
        &self,
        old: &Tokens,
        server: &AuthorizationServer,
    ) -> Result<Option<(Tokens, TokenState)>, AuthError> {
        if old.refresh.is_none() {
            return Ok(None);
        }
        let key = self.tokens_key(&old.issuer, old.resource.as_deref());
        let _held = self.settings.store.hold(&key).await.map_err(held)?;
        let kept = self.load_tokens(&key).await;
        let kept = kept.filter(|kept| kept.access != old.access);
        if let Some(kept) = kept {
            if !kept.is_expired(Timestamp::now()) {
                // Another process has renewed them meanwhile.
                return Ok(Some((kept, TokenState::Tried)));
            }
            let renewed = self.renew(&kept, server).await?;
            return Ok(renewed.map(|tokens| (tokens, TokenState::Renewed)));
        }
        let renewed = self.renew(old, server).await?;
        Ok(renewed.map(|tokens| (tokens, TokenState::Renewed)))
    }

    async fn renew(
        &self,
        old: &Tokens,
        server: &AuthorizationServer,
    ) -> Result<Option<Tokens>, AuthError> {
        let Some(refresh) = &old.refresh else {
            return Ok(None);
        };
        let Some(identity) = self.known_identity(old, server).await? else {
            return Ok(None);
        };
        let mut form = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.expose()),
        ];
        form.extend(
            old.resource
                .as_deref()
                .map(|resource| ("resource", resource)),
        );
        let request = TokenRequest {
            step: Step::Refresh,
            server,
            identity: Some(&identity),
            key: old.key.as_ref(),
            form: &form,
        };
        let answer = match self.request_token(&request).await {
            Ok(answer) => answer,
            Err(error) if is_final(&error) => {
                tracing::debug!(server = %self.server, %error, "the refresh token is no longer valid");
                self.drop_refresh_token(old).await;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let request = Request {
            issuer: &old.issuer,
            resource: old.resource.as_deref(),
            client_id: Some(&identity.client_id),
            requested: &old.requested,
            key: old.key.as_ref(),
        };
        let mut tokens = Tokens::new(answer, &request, Timestamp::now())?;
        // Rotation: a new refresh token replaces the old one. If the response has none, the old one
        // stays valid.
        tokens.refresh = tokens.refresh.or_else(|| old.refresh.clone());
        // Store the tokens before another process takes its turn.
        let key = self.tokens_key(&old.issuer, old.resource.as_deref());
        self.save_tokens(&key, &tokens).await;
        Ok(Some(tokens))
    }

    /// Drops the refresh token. The requested scopes are kept, so that the next sign-in requests
    /// them again.
    async fn drop_refresh_token(&self, old: &Tokens) {
        let mut spent = old.clone();
        spent.refresh = None;
        spent.expires = Some(Timestamp(0));
        let key = self.tokens_key(&old.issuer, old.resource.as_deref());
        self.save_tokens(&key, &spent).await;
    }

    /// The client that tokens were issued to, if it is still known.
    pub(super) async fn known_identity(
        &self,
        old: &Tokens,
        server: &AuthorizationServer,
    ) -> Result<Option<ClientIdentity>, AuthError> {
        let mut own = self.registered(server).await?;
        if own.is_none() {
            own = self.documented(server)?;
        }
        if own.is_none() {
            let made = self.load_registration(&server.issuer).await;
            own = made.map(|made| made.identity());
        }
        Ok(own.filter(|own| Some(&own.client_id) == old.client_id.as_ref()))
    }
}

/// Whether retrying the renewal cannot help, but signing in again may.
fn is_final(error: &AuthError) -> bool {
    let Problem::Refused { status, .. } = error.problem() else {
        return false;
    };
    // These statuses are temporary (timeout, too early, too many requests): the refresh token is
    // still valid.
    let is_passing = [408, 425, 429].contains(status);
    (400..500).contains(status)
        && !is_passing
        && error.oauth_error() != Some("temporarily_unavailable")
}

fn held(error: BoxError) -> AuthError {
    let problem = Problem::Local("the token store could not be locked for the renewal".to_owned());
    AuthError::new(Step::Store, problem).caused_by(error)
}
