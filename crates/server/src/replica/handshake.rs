//! Session ids that contain the encrypted handshake. Every replica that has the secret can decrypt
//! an id, and serve the session without asking another replica.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use turnbuckle_protocol::{ClientCapabilities, Implementation, Revision, SubscriptionFilter};
use turnbuckle_session::round::{KeyRing, seal::Nonce};

/// The maximum length of an id, in characters. Proxies accept headers of a few kilobytes, and a
/// client repeats this one with each request.
const MAX_ID: usize = 512;

/// The maximum length of a text that the server tries to decrypt.
const MAX_OPENED: usize = 2 * MAX_ID;

/// How far the clock of another replica may be ahead.
const SKEW: Duration = Duration::from_mins(1);

/// The purposes for which data is encrypted.
const ID: &[u8] = b"session id";
const PART: &[u8] = b"handshake";

/// The data of a handshake that a session needs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Handshake {
    #[serde(rename = "r")]
    pub(crate) revision: Revision,
    /// The time of the handshake, in milliseconds since 1970.
    #[serde(rename = "t")]
    pub(crate) opened_ms: u64,
    #[serde(rename = "p")]
    promised: u8,
    /// Missing if it is too large for the id; then it is kept in a store.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub(crate) rest: Option<HandshakeRest>,
}

/// The part of a handshake that may be large.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HandshakeRest {
    /// The id of the session's caller.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub(crate) caller: Option<String>,
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    pub(crate) info: Option<Implementation>,
    #[serde(rename = "k", default)]
    pub(crate) capabilities: ClientCapabilities,
}

/// A decrypted session id.
#[derive(Debug)]
pub(crate) struct OpenedId {
    /// The key of the session in stores.
    pub(crate) key: String,
    pub(crate) handshake: Handshake,
}

/// An encrypted session id, and the part of its handshake that was too large for the id and must be
/// kept in a store.
pub(super) struct SealedId {
    pub(super) id: String,
    pub(super) key: String,
    pub(super) part: Option<Vec<u8>>,
}

impl Handshake {
    pub(crate) fn new(
        revision: Revision,
        opened_ms: u64,
        promised: &SubscriptionFilter,
        rest: HandshakeRest,
    ) -> Self {
        let lists = [
            promised.wants_tools(),
            promised.wants_prompts(),
            promised.wants_resources(),
        ];
        let promised: u8 = (0..)
            .zip(lists)
            .map(|(bit, list)| u8::from(list) << bit)
            .sum();
        Self {
            revision,
            opened_ms,
            promised,
            rest: Some(rest),
        }
    }

    /// The notifications that the server declared to the client.
    pub(crate) fn promised(&self) -> SubscriptionFilter {
        let has = |bit: u8| self.promised & (1 << bit) != 0;
        let mut filter = SubscriptionFilter::new();
        filter.tools_list_changed = has(0).then_some(true);
        filter.prompts_list_changed = has(1).then_some(true);
        filter.resources_list_changed = has(2).then_some(true);
        filter
    }

    /// Returns how long the session lasts from `now` on, if it lasts for `life` from its handshake.
    /// `None` if it is over, or if the handshake is in the future.
    pub(crate) fn time_left(&self, life: Duration, now_ms: u64) -> Option<Duration> {
        let age = Duration::from_millis(now_ms.saturating_sub(self.opened_ms));
        let ahead = Duration::from_millis(self.opened_ms.saturating_sub(now_ms));
        let left = life.checked_sub(age).filter(|left| !left.is_zero());
        left.filter(|_| ahead <= SKEW)
    }

    /// Encrypts the handshake. `None` if encryption fails.
    pub(super) fn seal(mut self, keys: &KeyRing, nonces: [Nonce; 2]) -> Option<SealedId> {
        let key = key(&nonces[0]);
        let id = self.sealed(keys, nonces[0])?;
        if id.len() <= MAX_ID {
            return Some(SealedId {
                id,
                key,
                part: None,
            });
        }
        let part = serde_json::to_vec(&self.rest.take()).ok()?;
        let part = keys.seal_bytes(PART, &part, nonces[1]);
        Some(SealedId {
            id: self.sealed(keys, nonces[0])?,
            key,
            part: Some(part),
        })
    }

    fn sealed(&self, keys: &KeyRing, nonce: Nonce) -> Option<String> {
        let text = serde_json::to_vec(self).ok()?;
        let sealed = keys.seal_bytes(ID, &text, nonce);
        (!sealed.is_empty()).then(|| BASE64_URL_SAFE_NO_PAD.encode(sealed))
    }
}

impl OpenedId {
    /// Decrypts an id that a replica encrypted with one of these keys.
    pub(super) fn open(keys: &KeyRing, id: &str) -> Option<Self> {
        if id.len() > MAX_OPENED {
            return None;
        }
        let mut sealed = BASE64_URL_SAFE_NO_PAD.decode(id).ok()?;
        let (text, nonce) = keys.open_bytes(ID, &mut sealed)?;
        Some(Self {
            key: key(&nonce),
            handshake: serde_json::from_slice(&text).ok()?,
        })
    }
}

impl HandshakeRest {
    /// Decrypts the part of a handshake that was kept in a store.
    pub(super) fn open(keys: &KeyRing, mut part: Vec<u8>) -> Option<Self> {
        let (text, _) = keys.open_bytes(PART, &mut part)?;
        serde_json::from_slice::<Option<Self>>(&text).ok()?
    }
}

/// The nonce of an id is unique, so it identifies the session.
fn key(nonce: &Nonce) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(nonce)
}

#[cfg(test)]
mod tests {
    use turnbuckle_session::round::{Key, seal::NONCE_BYTES};

    use super::*;

    fn handshake(name: String) -> Handshake {
        let rest = HandshakeRest {
            caller: Some("ada".into()),
            info: Some(Implementation::new(name, "1.0")),
            capabilities: ClientCapabilities::default(),
        };
        let promised = SubscriptionFilter::new().with_tools();
        Handshake::new(Revision::V2025_06_18, 1000, &promised, rest)
    }

    #[test]
    fn an_id_is_its_handshake_and_opens_with_the_secret_alone() {
        let keys = KeyRing::new(Key::new([1; 32]));
        let nonces = [[1; NONCE_BYTES], [2; NONCE_BYTES]];
        let sealed = handshake("x".into()).seal(&keys, nonces).unwrap();
        assert!(sealed.part.is_none());
        assert!(sealed.id.len() <= MAX_ID);
        let opened = OpenedId::open(&keys, &sealed.id).unwrap();
        assert_eq!(opened.key, sealed.key);
        assert_eq!(opened.handshake.revision, Revision::V2025_06_18);
        assert!(opened.handshake.promised().wants_tools());
        assert!(!opened.handshake.promised().wants_prompts());
        let rest = opened.handshake.rest.unwrap();
        assert_eq!(rest.caller.as_deref(), Some("ada"));
        assert_eq!(rest.info.unwrap().name, "x");
        let others = KeyRing::new(Key::new([2; 32]));
        assert!(OpenedId::open(&others, &sealed.id).is_none());
        assert!(OpenedId::open(&keys, "").is_none());
        assert!(OpenedId::open(&keys, &"A".repeat(10_000)).is_none());
    }

    #[test]
    fn what_is_too_large_for_an_id_is_kept_elsewhere() {
        let keys = KeyRing::new(Key::new([1; 32]));
        let nonces = [[1; NONCE_BYTES], [2; NONCE_BYTES]];
        let sealed = handshake("x".repeat(5000)).seal(&keys, nonces).unwrap();
        assert!(sealed.id.len() <= MAX_ID, "{}", sealed.id.len());
        let opened = OpenedId::open(&keys, &sealed.id).unwrap();
        assert!(opened.handshake.rest.is_none());
        let rest = HandshakeRest::open(&keys, sealed.part.unwrap()).unwrap();
        assert_eq!(rest.info.unwrap().name.len(), 5000);
    }

    #[test]
    fn a_session_has_a_time_and_clocks_may_differ() {
        let handshake = handshake("x".into());
        let left = |now| handshake.time_left(Duration::from_secs(10), now);
        assert_eq!(left(1000), Some(Duration::from_secs(10)));
        assert_eq!(left(10_999), Some(Duration::from_millis(1)));
        assert_eq!(left(11_000), None);
        assert_eq!(left(0), Some(Duration::from_secs(10)), "a clock behind");
    }
}
