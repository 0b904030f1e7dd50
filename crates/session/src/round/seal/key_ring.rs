//! The keys that seal and open states.

use std::fmt;

use super::cipher::{Cipher, Zeroizing};
use crate::round::canonical::{DIGEST_BYTES, Hasher};

/// The minimum length of a secret in bytes. Sixteen random bytes cannot be guessed; a passphrase of
/// that length can be, so generate secrets randomly.
pub const MIN_SECRET_BYTES: usize = 16;

/// The maximum number of keys in a ring. Keys are replaced after weeks and states live for minutes, so
/// two keys are usual; with more than this, the oldest is removed.
pub const MAX_KEYS: usize = 8;

/// The length of a key id.
pub(super) const KEY_ID_BYTES: usize = 8;

/// The id of a key, derived from the key itself: replicas that share a key have the same id for it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub(super) [u8; KEY_ID_BYTES]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// A secret that is too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the secret for request states has only {0} bytes; use 32 random bytes, and never less than \
     {MIN_SECRET_BYTES}"
)]
pub struct WeakSecret(pub usize);

/// A key of 256 bits. Its bytes are never printed, and are wiped when it is dropped.
#[derive(Clone)]
pub struct Key {
    id: KeyId,
    cipher: Cipher,
}

impl Key {
    /// Creates a key from random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        let bytes = Zeroizing::new(bytes);
        let mut hasher = Hasher::new("turnbuckle key id");
        hasher.bytes(&*bytes);
        let mut id = [0; KEY_ID_BYTES];
        id.copy_from_slice(&hasher.finish()[..KEY_ID_BYTES]);
        Self {
            id: KeyId(id),
            cipher: Cipher::new(&bytes),
        }
    }

    /// Creates a key from a secret of the settings, of at least [`MIN_SECRET_BYTES`].
    ///
    /// The secret must be random: it is hashed only once, so a weak secret can be guessed quickly.
    ///
    /// # Errors
    /// Fails if the secret is too short.
    pub fn from_secret(secret: &[u8]) -> Result<Self, WeakSecret> {
        if secret.len() < MIN_SECRET_BYTES {
            return Err(WeakSecret(secret.len()));
        }
        let mut hasher = Hasher::new("turnbuckle request state key");
        hasher.bytes(secret);
        let bytes: Zeroizing<[u8; DIGEST_BYTES]> = Zeroizing::new(hasher.finish());
        Ok(Self::new(*bytes))
    }

    /// Returns the id of the key.
    pub const fn id(&self) -> KeyId {
        self.id
    }

    pub(super) const fn cipher(&self) -> &Cipher {
        &self.cipher
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.id)
    }
}

/// The key that seals, and older keys that only open.
///
/// To change keys without losing a call on any of several machines: add the new key [for
/// opening](Self::with_older_key) everywhere, then make it [current](Self::with_key) everywhere, and
/// [retire](Self::retire) the old key when its last state has expired.
///
/// ```
/// use turnbuckle_session::round::{Key, KeyRing};
///
/// let ring = KeyRing::from_secret(b"sixteen random b")?;
/// let old = ring.current();
/// let mut ring = ring.with_key(Key::new([42; 32]));
/// assert_ne!(ring.current(), old);
/// assert!(ring.retire(old));
/// assert!(!ring.retire(ring.current()));
/// # Ok::<(), turnbuckle_session::round::seal::WeakSecret>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyRing {
    current: Key,
    /// The newest is first.
    older: Vec<Key>,
}

impl KeyRing {
    /// Creates a ring with one key.
    pub const fn new(key: Key) -> Self {
        Self {
            current: key,
            older: Vec::new(),
        }
    }

    /// Creates a ring with one key from a secret; see [`Key::from_secret`].
    ///
    /// # Errors
    /// Fails if the secret is too short.
    pub fn from_secret(secret: &[u8]) -> Result<Self, WeakSecret> {
        Key::from_secret(secret).map(Self::new)
    }

    /// Makes this the sealing key; the previous key still opens.
    pub fn with_key(mut self, key: Key) -> Self {
        self.retire(key.id);
        if key.id != self.current.id {
            let before = std::mem::replace(&mut self.current, key);
            self.older.insert(0, before);
            self.older.truncate(MAX_KEYS - 1);
        }
        self
    }

    /// Adds a key that only opens.
    pub fn with_older_key(mut self, key: Key) -> Self {
        if self.key(key.id).is_none() {
            self.older.insert(0, key);
            self.older.truncate(MAX_KEYS - 1);
        }
        self
    }

    /// Removes a key that only opens. Returns false if it is not in the ring, or is the sealing key.
    pub fn retire(&mut self, id: KeyId) -> bool {
        let before = self.older.len();
        self.older.retain(|key| key.id != id);
        self.older.len() < before
    }

    /// Returns the id of the sealing key.
    pub const fn current(&self) -> KeyId {
        self.current.id
    }

    /// Returns the ids of all keys, the sealing key first.
    pub fn ids(&self) -> impl Iterator<Item = KeyId> {
        self.keys().map(Key::id)
    }

    pub(super) const fn sealing(&self) -> &Key {
        &self.current
    }

    pub(super) fn key(&self, id: KeyId) -> Option<&Key> {
        self.keys().find(|key| key.id == id)
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        std::iter::once(&self.current).chain(&self.older)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_secret_is_the_same_key_everywhere_and_is_not_printed() {
        let secret = [b'x'; 32];
        let key = Key::from_secret(&secret).unwrap();
        assert_eq!(key.id(), Key::from_secret(&secret).unwrap().id());
        assert_ne!(key.id(), Key::from_secret(&[b'x'; 31]).unwrap().id());
        // A key from a secret differs from the key with the secret as its bytes.
        assert_ne!(key.id(), Key::new(secret).id());
        let printed = format!("{:?} {:?}", key, KeyRing::new(key.clone()));
        assert!(
            !printed.contains("xxxx") && !printed.contains("120, 120"),
            "{printed}"
        );
    }

    #[test]
    fn short_secrets_are_refused() {
        assert_eq!(KeyRing::from_secret(b"hunter2").unwrap_err(), WeakSecret(7));
        assert!(KeyRing::from_secret(&[0; MIN_SECRET_BYTES]).is_ok());
    }

    #[test]
    fn a_ring_has_each_key_once_and_only_so_many() {
        let key = |number| Key::new([number; 32]);
        let ring = KeyRing::new(key(1)).with_key(key(2)).with_older_key(key(3));
        let ids = |ring: &KeyRing| ring.ids().collect::<Vec<_>>();
        assert_eq!(ids(&ring), [key(2).id(), key(3).id(), key(1).id()]);
        let ring = ring
            .with_older_key(key(2))
            .with_key(key(3))
            .with_key(key(3));
        assert_eq!(ids(&ring), [key(3).id(), key(2).id(), key(1).id()]);

        let full = (10..40).fold(ring, |ring, number| ring.with_key(key(number)));
        assert_eq!(ids(&full).len(), MAX_KEYS);
        assert_eq!(full.current(), key(39).id());
    }
}
