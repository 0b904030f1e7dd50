//! The keys of an issuer. They are fetched when needed, cached, and fetched again for an unknown key.

use std::sync::Arc;

use tokio::sync::Semaphore;
use turnbuckle_base::lock::Mutex;
use turnbuckle_transport::http::client::Address;

use super::{discovery, fetch::IssuerFetcher, verify::VerifyError};
use crate::jose::{Algorithm, JwkSet, Jws};

/// For how many seconds keys are used before they are fetched again. Issuers publish a new key well
/// before they sign with it, so this only limits how long a withdrawn key is still trusted.
const FRESH: u64 = 600;

/// Seconds between two attempts to find an unknown key. Anyone can send tokens with unknown keys,
/// and this must not put load on the issuer.
const PAUSE: u64 = 10;

/// Seconds between two attempts while there are no keys at all. All tokens are refused meanwhile,
/// so the pause is shorter, but long enough that many tokens do not cause many requests.
const RETRY: u64 = 2;

/// For how many seconds old keys are used while the issuer cannot be reached, so that an outage of
/// the issuer is not an outage of this server.
const STALE: u64 = 12 * 3600;

/// Where the keys of an issuer come from.
#[derive(Debug)]
pub(super) enum Place {
    /// Fetched from the URL in the issuer's metadata.
    Discovered,
    /// Fetched from this URL.
    At(Address),
    /// Set by the application; they do not change.
    Given(Arc<JwkSet>),
}

/// The keys of one issuer.
#[derive(Debug)]
pub(super) struct Keys {
    place: Place,
    state: Mutex<KeysState>,
    /// Held by the caller that fetches keys; the others wait for its result.
    turn: Semaphore,
}

#[derive(Debug, Default)]
struct KeysState {
    keys: Option<Arc<JwkSet>>,
    fetched: u64,
    tried: Option<u64>,
    /// How often the keys were fetched. Callers that waited compare it.
    asked: u64,
    /// Why there are no usable keys.
    failure: Option<VerifyError>,
    /// The URL of the keys, once it is known.
    address: Option<Address>,
}

impl Keys {
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            state: Mutex::default(),
            turn: Semaphore::new(1),
        }
    }

    /// Returns the keys to verify this token with. They include the token's key if the issuer has it.
    pub(super) async fn for_token(
        &self,
        fetcher: &IssuerFetcher,
        issuer: &str,
        token: &Jws<'_>,
        algorithm: Algorithm,
        now: u64,
    ) -> Result<Arc<JwkSet>, VerifyError> {
        if let Place::Given(keys) = &self.place {
            return Ok(Arc::clone(keys));
        }
        let id = token.header().kid.as_deref();
        if let Some(keys) = self.known(algorithm, id, now) {
            return Ok(keys);
        }
        let before = self.state.lock().asked;
        let _turn = self.turn.acquire().await;
        // An earlier caller may have fetched them meanwhile.
        if let Some(keys) = self.known(algorithm, id, now) {
            return Ok(keys);
        }
        if let Some(settled) = self.state.lock().settled(before, now) {
            return settled;
        }
        self.fetch(fetcher, issuer, now).await
    }

    /// The cached keys, if they can be used: they are fresh and include the wanted key, or were
    /// fetched too recently to fetch them again.
    fn known(&self, algorithm: Algorithm, id: Option<&str>, now: u64) -> Option<Arc<JwkSet>> {
        let state = self.state.lock();
        let keys = state.keys.as_ref()?;
        let is_fresh = now < state.fetched.saturating_add(FRESH);
        let is_there = keys.candidates(algorithm, id).next().is_some();
        let is_recent = state.was_tried_within(PAUSE, now) && state.is_usable(now);
        ((is_fresh && is_there) || is_recent).then(|| Arc::clone(keys))
    }

    async fn fetch(
        &self,
        fetcher: &IssuerFetcher,
        issuer: &str,
        now: u64,
    ) -> Result<Arc<JwkSet>, VerifyError> {
        self.state.lock().tried = Some(now);
        let fetched = self.ask(fetcher, issuer).await;
        let mut state = self.state.lock();
        state.asked += 1;
        state.failure = None;
        match fetched {
            Ok((address, keys)) => {
                let keys = Arc::new(keys);
                state.keys = Some(Arc::clone(&keys));
                state.fetched = now;
                state.address = Some(address);
                Ok(keys)
            }
            Err(error) => {
                // The URL may have changed, so discover it again.
                state.address = None;
                match &state.keys {
                    Some(keys) if state.is_usable(now) => {
                        tracing::warn!(%error, "could not fetch the keys of an issuer; using its old keys");
                        Ok(Arc::clone(keys))
                    }
                    _ => {
                        state.failure = Some(error.clone());
                        Err(error)
                    }
                }
            }
        }
    }

    async fn ask(
        &self,
        fetcher: &IssuerFetcher,
        issuer: &str,
    ) -> Result<(Address, JwkSet), VerifyError> {
        let known = self.state.lock().address.clone();
        let address = match (&self.place, known) {
            (Place::At(address), _) => address.clone(),
            (_, Some(address)) => address,
            (_, None) => discovery::endpoint(fetcher, issuer, "jwks_uri").await?,
        };
        let document = fetcher.document(&address).await;
        let document = document.map_err(|unread| VerifyError::Unavailable(unread.reason))?;
        let keys = JwkSet::parse(&document)
            .map_err(|error| VerifyError::Unavailable(format!("{address}: {error}")))?;
        Ok((address, keys))
    }
}

impl KeysState {
    /// The result for a caller that waited while another one fetched the keys (`asked` is no longer
    /// `before`), or that comes right after a failure. If each of these callers fetched in turn,
    /// this would take too long.
    fn settled(&self, before: u64, now: u64) -> Option<Result<Arc<JwkSet>, VerifyError>> {
        if let Some(failure) = &self.failure {
            let is_news = self.asked != before || self.was_tried_within(RETRY, now);
            return is_news.then(|| Err(failure.clone()));
        }
        let keys = self.keys.as_ref().filter(|_| self.asked != before)?;
        Some(Ok(Arc::clone(keys)))
    }

    fn was_tried_within(&self, seconds: u64, now: u64) -> bool {
        let is_recent = |tried: u64| now < tried.saturating_add(seconds);
        self.tried.is_some_and(is_recent)
    }

    fn is_usable(&self, now: u64) -> bool {
        now < self.fetched.saturating_add(STALE)
    }
}
