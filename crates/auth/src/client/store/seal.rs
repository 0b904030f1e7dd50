//! Encrypts values with a key that is stored elsewhere.

use std::fmt;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

use super::StoreKey;

/// The length of a key in bytes.
pub(super) const KEY_BYTES: usize = 32;

/// Encrypts values, each bound to its store key.
pub(super) struct Seal(LessSafeKey);

impl Seal {
    pub(super) fn new(key: &[u8; KEY_BYTES]) -> Self {
        let key = UnboundKey::new(&CHACHA20_POLY1305, key)
            .expect("a key of this cipher has as many bytes");
        Self(LessSafeKey::new(key))
    }

    /// Encrypts a value. Returns a random nonce, followed by the encrypted value. There are too few
    /// values for nonces to collide.
    pub(super) fn close(&self, under: &StoreKey, value: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut nonce).ok()?;
        let mut sealed = value.to_vec();
        let bound = Aad::from(under.as_str());
        let unique = Nonce::assume_unique_for_key(nonce);
        self.0
            .seal_in_place_append_tag(unique, bound, &mut sealed)
            .ok()?;
        Some([&nonce[..], &sealed].concat())
    }

    /// Decrypts a value, if it was encrypted with this key and for this store key.
    pub(super) fn open(&self, under: &StoreKey, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, sealed) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut value = sealed.to_vec();
        let opened = self
            .0
            .open_in_place(nonce, Aad::from(under.as_str()), &mut value);
        Some(opened.ok()?.to_vec())
    }
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seal")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_value_opens_with_its_key_in_its_place_only() {
        let (here, there) = (StoreKey::client("a"), StoreKey::client("b"));
        let seal = Seal::new(&[1; KEY_BYTES]);
        let sealed = seal.close(&here, b"token").unwrap();
        assert!(!sealed.windows(5).any(|part| part == b"token"));
        assert_eq!(seal.open(&here, &sealed).unwrap(), b"token");
        assert_eq!(seal.open(&there, &sealed), None);
        assert_eq!(Seal::new(&[2; KEY_BYTES]).open(&here, &sealed), None);
        assert_eq!(seal.open(&here, &sealed[..5]), None);
    }
}
