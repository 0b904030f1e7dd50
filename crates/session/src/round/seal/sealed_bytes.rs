//! Sealed bytes, for data that replicas store at clients and send to each other.
//!
//! Version (1 byte), key id (8), nonce (24), the encrypted bytes, and the tag (16). Version, key id and
//! purpose are associated data, so that bytes sealed for one purpose do not open for another.

use super::{KeyId, KeyRing, Nonce, cipher::TAG_BYTES, key_ring::KEY_ID_BYTES, state::NONCE_BYTES};

/// The version of the format.
const VERSION: u8 = 1;
const HEAD_BYTES: usize = 1 + KEY_ID_BYTES + NONCE_BYTES;

/// Separates these bytes from anything else that is sealed with the same key.
const DOMAIN: &[u8] = b"turnbuckle replicas ";

impl KeyRing {
    /// How many bytes sealing adds.
    pub const SEALED_BYTES: usize = HEAD_BYTES + TAG_BYTES;

    /// Seals bytes for a purpose; `nonce` is random and used only here. Returns an empty vector without
    /// the feature `seal`, and for more than 64 GiB.
    pub fn seal_bytes(&self, purpose: &[u8], bytes: &[u8], nonce: Nonce) -> Vec<u8> {
        let key = self.sealing();
        let mut sealed = Vec::with_capacity(Self::SEALED_BYTES + bytes.len());
        sealed.push(VERSION);
        sealed.extend_from_slice(&key.id().0);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(bytes);
        let associated = associated(key.id(), purpose);
        match key
            .cipher()
            .seal(&nonce, &associated, &mut sealed[HEAD_BYTES..])
        {
            Some(tag) => {
                sealed.extend_from_slice(&tag);
                sealed
            }
            None => Vec::new(),
        }
    }

    /// Opens bytes that were sealed for this purpose with one of the keys. Returns the bytes and the
    /// nonce.
    pub fn open_bytes(&self, purpose: &[u8], sealed: &mut [u8]) -> Option<(Vec<u8>, Nonce)> {
        let (version, rest) = sealed.split_first_mut()?;
        let (key, rest) = rest.split_first_chunk_mut()?;
        let (nonce, rest) = rest.split_first_chunk_mut::<NONCE_BYTES>()?;
        let (text, tag) = rest.split_last_chunk_mut()?;
        if *version != VERSION {
            return None;
        }
        let id = KeyId(*key);
        let cipher = self.key(id)?.cipher();
        cipher.open(nonce, &associated(id, purpose), text, *tag)?;
        Some((text.to_vec(), *nonce))
    }
}

fn associated(key: KeyId, purpose: &[u8]) -> Vec<u8> {
    [DOMAIN, &[VERSION], &key.0, purpose].concat()
}

#[cfg(all(test, feature = "seal"))]
mod tests {
    use super::*;
    use crate::round::Key;

    #[test]
    fn a_box_opens_for_its_purpose_with_its_key_and_unaltered() {
        let ring = KeyRing::new(Key::new([1; 32]));
        let sealed = ring.seal_bytes(b"bus", b"hello", [7; NONCE_BYTES]);
        assert_eq!(sealed.len(), KeyRing::SEALED_BYTES + 5);
        let open = |ring: &KeyRing, purpose: &[u8], mut sealed: Vec<u8>| {
            ring.open_bytes(purpose, &mut sealed)
        };
        let opened = open(&ring, b"bus", sealed.clone());
        assert_eq!(opened, Some((b"hello".to_vec(), [7; NONCE_BYTES])));
        assert_eq!(open(&ring, b"id", sealed.clone()), None);
        let rotated = ring.with_key(Key::new([2; 32]));
        assert!(open(&rotated, b"bus", sealed.clone()).is_some());
        let other = KeyRing::new(Key::new([3; 32]));
        assert_eq!(open(&other, b"bus", sealed.clone()), None);
        for place in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[place] ^= 1;
            assert_eq!(open(&rotated, b"bus", altered), None, "byte {place}");
            assert_eq!(open(&rotated, b"bus", sealed[..place].to_vec()), None);
        }
    }
}
