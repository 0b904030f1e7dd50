//! Replaces the cipher in servers that ask nothing: they seal nothing and open nothing.

use std::ops::Deref;

use super::Nonce;

pub(super) const TAG_BYTES: usize = 16;

/// A cipher without function.
#[derive(Clone)]
pub(super) struct Cipher;

impl Cipher {
    pub(super) fn new(_key: &[u8; 32]) -> Self {
        Self
    }

    /// Always `None`.
    #[expect(clippy::unused_self, reason = "as the cipher has it")]
    pub(super) fn seal(
        &self,
        _nonce: &Nonce,
        _aad: &[u8],
        _text: &mut [u8],
    ) -> Option<[u8; TAG_BYTES]> {
        None
    }

    /// Always `None`.
    #[expect(clippy::unused_self, reason = "as the cipher has it")]
    pub(super) fn open(
        &self,
        _nonce: &Nonce,
        _aad: &[u8],
        _text: &mut [u8],
        _tag: [u8; TAG_BYTES],
    ) -> Option<()> {
        None
    }
}

/// Bytes that are not secret, because nothing is sealed with them.
pub(super) struct Zeroizing<T>(T);

impl<T> Zeroizing<T> {
    pub(super) fn new(bytes: T) -> Self {
        Self(bytes)
    }
}

impl<T> Deref for Zeroizing<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
