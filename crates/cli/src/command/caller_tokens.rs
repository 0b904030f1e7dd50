//! The stores in which the gateway keeps the tokens of its callers, and the owners of these stores.
//!
//! A name in `[[gateway.keys]]` can be reassigned to another person. So the store records which keys the caller had
//! when it signed in; a caller of the same name that has none of these keys does not get the tokens.

use std::{fmt::Write as _, time::Duration};

use futures_core::future::BoxFuture;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use turnbuckle::{
    Caller,
    auth::{
        Secret,
        client::{FileStore, MemoryStore, OAuth, StoreKey, TokenStore},
    },
    transport::http::client::BoxError,
};

/// How long an authorization server may take to revoke the tokens of a former caller. Only the lookup of this caller's
/// credentials waits for it.
const REVOKED_WITHIN: Duration = Duration::from_secs(30);

/// The prefix of the names of the stores.
const PREFIX: &str = "gateway-";

/// The digests of all keys of a caller, as an attribute of the [`Caller`].
pub(crate) struct KeyDigests(pub(crate) Vec<[u8; 32]>);

/// The store for the tokens of one caller for one server.
pub(crate) struct CallerTokens {
    name: String,
    owner: TokenOwner,
}

/// The owner of the tokens in a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenOwner {
    /// `None` if the gateway does not distinguish callers.
    pub(crate) caller: Option<String>,
    /// The name of the server.
    pub(crate) server: String,
    pub(crate) url: String,
    /// Values by which the caller's keys can be recognized.
    keys: Vec<String>,
}

impl TokenOwner {
    /// Whether this is the same caller as an earlier one, judging by its keys.
    fn is_same_caller(&self, before: &Self) -> bool {
        let had_no_keys = self.keys.is_empty() && before.keys.is_empty();
        self.caller == before.caller
            && (had_no_keys || self.keys.iter().any(|key| before.keys.contains(key)))
    }
}

impl CallerTokens {
    pub(crate) fn new(server: &str, url: &str, caller: &Caller) -> Self {
        let name = name(server, url, caller);
        let digests = caller.get::<KeyDigests>();
        let keys = digests.map_or(&[][..], |all| &all.0);
        let owner = TokenOwner {
            caller: caller.id().map(str::to_owned),
            server: server.to_owned(),
            url: url.to_owned(),
            // A digest of a digest, different for each store, so that keys cannot be guessed by comparing stores.
            keys: keys
                .iter()
                .map(|key| digest(&[name.as_bytes(), key]))
                .collect(),
        };
        Self { name, owner }
    }

    /// The store's name: unique to the caller, without revealing who it is.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether the store exists, whoever its owner is.
    pub(crate) fn exists(&self) -> bool {
        FileStore::exists(&self.name)
    }

    /// The store, if it has tokens of this caller. Tokens of a former caller of the same name are revoked
    /// with this client and deleted. A store whose owner cannot be read is not touched: its keyring may be locked.
    pub(crate) async fn find(&self, client: &OAuth) -> Option<FileStore> {
        if !self.exists() {
            return None;
        }
        let store = FileStore::open(&self.name).ok()?;
        let before = owner(&store).await?;
        if before == self.owner {
            return Some(store);
        }
        if self.owner.is_same_caller(&before) {
            // Some of the keys have changed. The tokens can be used even if that cannot be recorded.
            if let Err(error) = self.claim(&store).await {
                tracing::warn!(%error, "could not record the new keys of a caller with its tokens");
            }
            return Some(store);
        }
        delete(store, client, &before.url).await;
        None
    }

    /// The store for a new sign-in, with this caller as its owner. `None` if a store exists whose owner
    /// cannot be read: [`replace`](Self::replace) it once the sign-in has succeeded.
    pub(crate) async fn open(&self, client: &OAuth) -> Result<Option<FileStore>, String> {
        if let Some(store) = self.find(client).await {
            return Ok(Some(store));
        }
        if self.exists() {
            return Ok(None);
        }
        self.create().await.map(Some)
    }

    /// Replaces a store whose owner cannot be read by the tokens of a sign-in.
    pub(crate) async fn replace(&self, signed_in: &MemoryStore) -> Result<(), String> {
        let said = |error: std::io::Error| error.to_string();
        self.store()?.delete().map_err(said)?;
        let store = self.create().await?;
        let copied = signed_in.copy_to(&store).await;
        copied.map_err(|error| error.to_string())
    }

    async fn create(&self) -> Result<FileStore, String> {
        let store = self.store()?;
        self.claim(&store).await?;
        Ok(store)
    }

    fn store(&self) -> Result<FileStore, String> {
        FileStore::open(&self.name).map_err(|error| error.to_string())
    }

    async fn claim(&self, store: &FileStore) -> Result<(), String> {
        let text = serde_json::to_string(&self.owner).map_err(|error| error.to_string())?;
        let saved = store.save(&key(), &Secret::new(text)).await;
        saved.map_err(|error| error.to_string())
    }
}

/// Revokes the tokens for a server, and deletes them even if the authorization server does not revoke them.
async fn delete(store: FileStore, client: &OAuth, url: &str) {
    let oauth = client.clone().store(store.clone());
    let _ = tokio::time::timeout(REVOKED_WITHIN, oauth.sign_out(url)).await;
    if let Err(error) = store.delete() {
        tracing::warn!(%error, "could not delete the tokens of a former caller");
    }
}

/// All stores with the tokens of callers.
pub(crate) async fn all() -> std::io::Result<Vec<(TokenOwner, FileStore)>> {
    let mut all = Vec::new();
    for name in FileStore::applications()? {
        if !name.starts_with(PREFIX) {
            continue;
        }
        let Ok(store) = FileStore::open(&name) else {
            continue;
        };
        if let Some(owner) = owner(&store).await {
            all.push((owner, store));
        }
    }
    all.sort_by(|(one, _), (other, _)| {
        (&one.caller, &one.server).cmp(&(&other.caller, &other.server))
    });
    Ok(all)
}

/// A store from which nothing is removed, so that revoking tokens can be tried again if it fails.
pub(crate) struct UnchangedStore(pub(crate) FileStore);

impl TokenStore for UnchangedStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, BoxError>> {
        self.0.load(key)
    }

    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        self.0.save(key, value)
    }

    fn remove<'a>(&'a self, _: &'a StoreKey) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn hold<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Box<dyn Send>, BoxError>> {
        self.0.hold(key)
    }
}

async fn owner(store: &FileStore) -> Option<TokenOwner> {
    let kept = store.load(&key()).await.ok()??;
    serde_json::from_str(kept.expose()).ok()
}

fn key() -> StoreKey {
    StoreKey::of_application("gateway caller")
}

fn name(server: &str, url: &str, caller: &Caller) -> String {
    let id = caller.id().unwrap_or_default().as_bytes();
    let has_id = [u8::from(caller.id().is_some())];
    let parts = [server.as_bytes(), url.as_bytes(), id, &has_id];
    format!("{PREFIX}{}", digest(&parts))
}

/// 16 bytes of a digest of these parts.
fn digest(parts: &[&[u8]]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update(part.len().to_le_bytes());
        digest.update(part);
    }
    let mut text = String::new();
    for byte in &digest.finalize()[..16] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
