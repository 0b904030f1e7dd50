//! The state of the server: clients, codes, tokens, keys, faults.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::{Map, Value};
use turnbuckle_auth::jose::{self, Jwk, JwkSet, KeyError, SigningKey};
use turnbuckle_base::lock::{Mutex, MutexGuard};

use super::{client::Client, fault::Orders, settings::AuthorizationServer};

/// The most entries of each table, so that a demo that runs for weeks does not grow. The oldest are
/// dropped.
const MAX_ENTRIES: usize = 10_000;

/// The state that all requests share.
pub(super) struct Site {
    /// `http://127.0.0.1:1234/path`
    pub(super) issuer: String,
    /// `http://127.0.0.1:1234`
    pub(super) origin: String,
    pub(super) settings: AuthorizationServer,
    state: Mutex<State>,
}

pub(super) struct State {
    pub(super) clients: Table<Client>,
    pub(super) codes: Table<Grant>,
    pub(super) refresh: Table<Refresh>,
    pub(super) access: Table<Map<String, Value>>,
    /// The digests of revoked tokens.
    pub(super) revoked: Table<()>,
    pub(super) keys: Vec<Arc<SigningKey>>,
    pub(super) orders: Orders,
    pub(super) nonces: VecDeque<String>,
    pub(super) requests: VecDeque<String>,
    /// The ids of used assertions.
    pub(super) assertions: HashSet<String>,
}

/// The data of a granted authorization.
#[derive(Clone, Debug, Default)]
pub(super) struct Grant {
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) scopes: Vec<String>,
    pub(super) resource: Option<String>,
    pub(super) redirect: String,
    /// The PKCE challenge.
    pub(super) challenge: String,
    /// The thumbprint of the key that tokens are bound to.
    pub(super) key: Option<String>,
    pub(super) expires: u64,
}

/// A refresh token.
#[derive(Clone, Debug)]
pub(super) struct Refresh {
    pub(super) grant: Grant,
    /// The id that all tokens derived from one grant share.
    pub(super) family: String,
    pub(super) is_used: bool,
}

impl Site {
    pub(super) fn new(origin: String, mut settings: AuthorizationServer, key: SigningKey) -> Self {
        let mut clients = Table::default();
        for client in std::mem::take(&mut settings.clients) {
            clients.put(client.id.clone(), client);
        }
        let state = State {
            clients,
            codes: Table::default(),
            refresh: Table::default(),
            access: Table::default(),
            revoked: Table::default(),
            keys: vec![Arc::new(named(key))],
            orders: Orders::default(),
            nonces: VecDeque::new(),
            requests: VecDeque::new(),
            assertions: HashSet::new(),
        };
        Self {
            issuer: format!("{origin}{}", settings.path),
            origin,
            settings,
            state: Mutex::new(state),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// The URL of an endpoint.
    pub(super) fn url(&self, place: &str) -> String {
        format!("{}{place}", self.issuer)
    }
}

impl State {
    /// Revokes a token: it is no longer active.
    pub(super) fn revoke(&mut self, token: &str) {
        self.access.take(token);
        self.revoked.put(jose::digest(token), ());
    }

    pub(super) fn is_revoked(&self, token: &str) -> bool {
        self.revoked.get(&jose::digest(token)).is_some()
    }

    /// Signs with a new key from now on. Old keys are still published, unless there are too many.
    pub(super) fn rotate(&mut self) -> Result<(), KeyError> {
        let key = SigningKey::generate()?;
        self.keys.insert(0, Arc::new(named(key)));
        self.keys.truncate(2);
        Ok(())
    }

    /// The signing key.
    pub(super) fn key(&self) -> Arc<SigningKey> {
        Arc::clone(&self.keys[0])
    }

    pub(super) fn public_keys(&self) -> JwkSet {
        JwkSet::new(self.keys.iter().map(|key| key.public_key()))
    }

    pub(super) fn note(&mut self, request: String) {
        self.requests.push_back(request);
        if self.requests.len() > MAX_ENTRIES {
            self.requests.pop_front();
        }
    }

    /// Records an assertion. Returns whether it is used for the first time.
    pub(super) fn is_first_use(&mut self, id: String) -> bool {
        self.assertions.len() < MAX_ENTRIES && self.assertions.insert(id)
    }

    /// Makes a nonce for proofs.
    pub(super) fn new_nonce(&mut self) -> String {
        let nonce = random();
        self.nonces.push_back(nonce.clone());
        if self.nonces.len() > 16 {
            self.nonces.pop_front();
        }
        nonce
    }
}

/// Gives a key its thumbprint as id, so that no two keys have the same id.
fn named(key: SigningKey) -> SigningKey {
    let id: Jwk = key.public_key();
    key.with_key_id(id.thumbprint())
}

/// A map that drops its oldest entries.
pub(super) struct Table<T> {
    entries: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<T> Table<T> {
    pub(super) fn put(&mut self, key: String, value: T) {
        if self.entries.insert(key.clone(), value).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MAX_ENTRIES
            && let Some(oldest) = self.order.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&T> {
        self.entries.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut T> {
        self.entries.get_mut(key)
    }

    pub(super) fn take(&mut self, key: &str) -> Option<T> {
        self.entries.remove(key)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&T) -> bool) {
        self.entries.retain(|_, value| keep(value));
    }
}

/// Random text.
///
/// # Panics
/// If the operating system returns no random bytes, because tests would then be meaningless.
pub(super) fn random() -> String {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).expect("the machine has randomness");
    jose::digest(bytes)
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
