//! The sealed state.
//!
//! In URL-safe Base64: version (1 byte), key id (8), nonce (24), then encrypted the expiry (8), the
//! digests of the caller and of the request (32 each) and the journal, and the tag (16). Version and
//! key id are associated data.
//!
//! Caller and request are part of the encrypted text rather than the associated data: they are
//! authenticated either way, but this way the log can distinguish a state of another caller from an
//! altered one.

use std::fmt;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};

use super::{
    BadState, Binding, KeyId, KeyRing,
    cipher::TAG_BYTES,
    key_ring::{KEY_ID_BYTES, Key},
};
use crate::round::{Journal, MAX_JOURNAL_BYTES, canonical::DIGEST_BYTES};

/// The length of a nonce.
///
/// The nonces of XAES-256-GCM are long enough to be random: among 2^80 states under one key, two have
/// the same nonce with a probability of 2^-32. Replicas need no common counter.
pub const NONCE_BYTES: usize = 24;

/// Random bytes that are used for one state.
pub type Nonce = [u8; NONCE_BYTES];

/// The version of the format. It changes with anything in this file or in the digests.
const VERSION: u8 = 3;
const HEAD_BYTES: usize = 1 + KEY_ID_BYTES + NONCE_BYTES;
const BINDING_BYTES: usize = EXPIRY_BYTES + 2 * DIGEST_BYTES;
const EXPIRY_BYTES: usize = 8;

/// The longest `requestState` that is made or read, in bytes of text: the length for a full journal.
pub const MAX_STATE_BYTES: usize =
    ((HEAD_BYTES + BINDING_BYTES + MAX_JOURNAL_BYTES + TAG_BYTES) * 4).div_ceil(3);

/// Separates states from anything else that is sealed with the same key.
const DOMAIN: &[u8] = b"turnbuckle request state";

/// Identifies a state: its nonce, which is random and cannot be changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(Nonce);

impl StateId {
    /// Returns the bytes of the id, to remember it.
    pub const fn as_bytes(&self) -> &[u8; NONCE_BYTES] {
        &self.0
    }
}

impl fmt::Display for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64_URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for StateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateId({self})")
    }
}

/// The content of a sealed state.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The journal.
    pub journal: Journal,
    /// The id of the state.
    pub id: StateId,
    /// When the state expires, in milliseconds since 1970.
    pub expires: u64,
}

impl KeyRing {
    /// Seals a journal. `expires` is in milliseconds since 1970; `nonce` is random and used only here.
    #[expect(
        clippy::missing_panics_doc,
        reason = "a journal is always JSON, and far below the 64 GiB of the cipher"
    )]
    pub fn seal(
        &self,
        journal: &Journal,
        binding: &Binding<'_>,
        expires: u64,
        nonce: Nonce,
    ) -> String {
        let key = self.sealing();
        let room = HEAD_BYTES + BINDING_BYTES + journal.bytes() + TAG_BYTES;
        let mut bytes = Vec::with_capacity(room);
        bytes.push(VERSION);
        bytes.extend_from_slice(&key.id().0);
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&expires.to_be_bytes());
        bytes.extend_from_slice(&binding.caller_digest());
        bytes.extend_from_slice(binding.request.bytes());
        serde_json::to_writer(&mut bytes, journal).expect("texts and JSON can always be written");
        let tag = key
            .cipher()
            .seal(&nonce, &associated(key.id()), &mut bytes[HEAD_BYTES..])
            .expect("a journal is bounded");
        bytes.extend_from_slice(&tag);
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Opens a state; `now` is in milliseconds since 1970.
    ///
    /// # Errors
    /// [`BadState`]: the variant is for the log, and [`BadState::to_error`] for the client.
    pub fn open(&self, state: &str, binding: &Binding<'_>, now: u64) -> Result<Opened, BadState> {
        if state.len() > MAX_STATE_BYTES {
            return Err(BadState::TooLarge(state.len()));
        }
        let mut bytes = BASE64_URL_SAFE_NO_PAD
            .decode(state)
            .map_err(|_| BadState::Foreign)?;
        let mut sealed = Sealed::split(&mut bytes).ok_or(BadState::Foreign)?;
        let key = self
            .key(sealed.key)
            .ok_or(BadState::UnknownKey(sealed.key))?;
        let id = StateId(sealed.nonce);
        let inside = StateContent::split(sealed.decrypt(key)?).ok_or(BadState::Foreign)?;
        inside.check(binding, now)?;
        Ok(Opened {
            journal: serde_json::from_slice(inside.journal).map_err(BadState::Unreadable)?,
            id,
            expires: inside.expires,
        })
    }
}

fn associated(key: KeyId) -> [u8; DOMAIN.len() + 1 + KEY_ID_BYTES] {
    let mut bytes = [0; DOMAIN.len() + 1 + KEY_ID_BYTES];
    bytes[..DOMAIN.len()].copy_from_slice(DOMAIN);
    bytes[DOMAIN.len()] = VERSION;
    bytes[DOMAIN.len() + 1..].copy_from_slice(&key.0);
    bytes
}

/// The parts of a state that was not decrypted yet.
struct Sealed<'a> {
    key: KeyId,
    nonce: Nonce,
    text: &'a mut [u8],
    tag: [u8; TAG_BYTES],
}

impl<'a> Sealed<'a> {
    fn split(bytes: &'a mut [u8]) -> Option<Self> {
        let (version, rest) = bytes.split_first_mut()?;
        let (key, rest) = rest.split_first_chunk_mut()?;
        let (nonce, rest) = rest.split_first_chunk_mut()?;
        let (text, tag) = rest.split_last_chunk_mut()?;
        (*version == VERSION).then_some(Self {
            key: KeyId(*key),
            nonce: *nonce,
            text,
            tag: *tag,
        })
    }

    fn decrypt(&mut self, key: &Key) -> Result<&[u8], BadState> {
        let aad = associated(self.key);
        let opened = key.cipher().open(&self.nonce, &aad, self.text, self.tag);
        opened.ok_or(BadState::Altered)?;
        Ok(self.text)
    }
}

/// The content of a sealed state, authentic but not checked yet.
struct StateContent<'a> {
    expires: u64,
    caller: &'a [u8; DIGEST_BYTES],
    request: &'a [u8; DIGEST_BYTES],
    journal: &'a [u8],
}

impl<'a> StateContent<'a> {
    fn split(bytes: &'a [u8]) -> Option<Self> {
        let (expires, rest) = bytes.split_first_chunk()?;
        let (caller, rest) = rest.split_first_chunk()?;
        let (request, journal) = rest.split_first_chunk()?;
        Some(Self {
            expires: u64::from_be_bytes(*expires),
            caller,
            request,
            journal,
        })
    }

    /// The digests need not be compared in constant time: callers cannot choose the sealed ones, so the
    /// timing reveals nothing.
    fn check(&self, binding: &Binding<'_>, now: u64) -> Result<(), BadState> {
        if now > self.expires {
            let milliseconds = now - self.expires;
            return Err(BadState::Expired { milliseconds });
        }
        if *self.caller != binding.caller_digest() {
            return Err(BadState::OtherCaller);
        }
        if self.request != binding.request.bytes() {
            return Err(BadState::OtherRequest);
        }
        Ok(())
    }
}
