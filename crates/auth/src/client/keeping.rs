//! Tokens and registrations that are stored between runs.
//!
//! If a store fails, the error is logged and the flow continues: the user may have to sign in
//! again, but the connection works.

use serde::{Deserialize, Serialize};
use turnbuckle_transport::http::client::BoxError;

use super::challenge::Wanted;
use super::discovery::Discovered;
use super::engine::Engine;
use super::registration::Registration;
use super::store::StoreKey;
use super::tokens::Tokens;
use crate::Secret;

/// The issuer and resource of a server's tokens, and the URL of its metadata.
#[derive(Serialize, Deserialize)]
struct Pointer {
    issuer: String,
    resource: Option<String>,
    resource_metadata: Option<String>,
}

impl Engine {
    /// The stored tokens of an issuer for this server.
    pub(crate) async fn kept(&self, found: &Discovered) -> Option<Tokens> {
        let key = self.tokens_key(&found.server.issuer, found.resource.as_deref());
        self.load_tokens(&key).await
    }

    /// The tokens that were last used with this server, and the URL of its metadata.
    pub(crate) async fn kept_last(&self) -> Option<(Tokens, Wanted)> {
        let text = self.load(&self.server_key()).await?;
        let pointer: Pointer = serde_json::from_str(text.expose()).ok()?;
        let key = self.tokens_key(&pointer.issuer, pointer.resource.as_deref());
        let wanted = Wanted {
            resource_metadata: pointer.resource_metadata,
            ..Wanted::default()
        };
        Some((self.load_tokens(&key).await?, wanted))
    }

    pub(crate) async fn load_tokens(&self, key: &StoreKey) -> Option<Tokens> {
        Tokens::from_secret(&self.load(key).await?)
    }

    /// Stores tokens that were just granted. This first waits for a running renewal of the earlier
    /// tokens, which would otherwise overwrite the new ones.
    pub(crate) async fn keep_granted(&self, tokens: &Tokens) {
        let key = self.tokens_key(&tokens.issuer, tokens.resource.as_deref());
        let held = self.settings.store.hold(&key).await;
        let _held = held.map_err(|error| self.log(&key, Some(error)));
        self.save_tokens(&key, tokens).await;
    }

    /// Stores which tokens are used with this server.
    pub(crate) async fn point_to(&self, tokens: &Tokens, wanted: &Wanted) {
        let pointer = Pointer {
            issuer: tokens.issuer.clone(),
            resource: tokens.resource.clone(),
            resource_metadata: wanted.resource_metadata.clone(),
        };
        let pointer = serde_json::to_string(&pointer).unwrap_or_default();
        self.save(&self.server_key(), &Secret::new(pointer)).await;
    }

    pub(crate) async fn save_tokens(&self, key: &StoreKey, tokens: &Tokens) {
        self.save(key, &tokens.to_secret()).await;
    }

    pub(crate) async fn forget(&self, tokens: &Tokens) {
        let key = self.tokens_key(&tokens.issuer, tokens.resource.as_deref());
        for key in [key, self.server_key()] {
            let removed = self.settings.store.remove(&key).await;
            self.log(&key, removed.err());
        }
    }

    pub(crate) async fn load_registration(&self, issuer: &str) -> Option<Registration> {
        let text = self.load(&StoreKey::client(issuer)).await?;
        serde_json::from_str(text.expose()).ok()
    }

    pub(crate) async fn keep_registration(&self, issuer: &str, made: &Registration) {
        self.save(&StoreKey::client(issuer), &made.to_secret())
            .await;
    }

    pub(crate) async fn forget_registration(&self, issuer: &str) {
        let key = StoreKey::client(issuer);
        let removed = self.settings.store.remove(&key).await;
        self.log(&key, removed.err());
    }

    /// The issuer that a client without a configured issuer belongs to: the first one that it was
    /// used with.
    pub(crate) async fn bound_issuer(&self, client_id: &str, first: &str) -> String {
        let key = StoreKey::binding(client_id, &self.server.to_string());
        if let Some(issuer) = self.load(&key).await {
            return issuer.expose().to_owned();
        }
        self.save(&key, &Secret::new(first)).await;
        first.to_owned()
    }

    /// The store key of tokens. 2025-03-26 has no name for the resource, so the server's own URL is
    /// used instead.
    pub(crate) fn tokens_key(&self, issuer: &str, resource: Option<&str>) -> StoreKey {
        match resource {
            Some(resource) => StoreKey::tokens(issuer, resource),
            None => StoreKey::tokens(issuer, &self.server.to_string()),
        }
    }

    fn server_key(&self) -> StoreKey {
        StoreKey::server(&self.server.to_string())
    }

    async fn load(&self, key: &StoreKey) -> Option<Secret> {
        match self.settings.store.load(key).await {
            Ok(found) => found,
            Err(error) => {
                self.log(key, Some(error));
                None
            }
        }
    }

    async fn save(&self, key: &StoreKey, value: &Secret) {
        let saved = self.settings.store.save(key, value).await;
        self.log(key, saved.err());
    }

    fn log(&self, key: &StoreKey, error: Option<BoxError>) {
        if let Some(error) = error {
            tracing::warn!(server = %self.server, %key, %error, "the token store failed");
        }
    }
}
