//! XAES-256-GCM: AES-256-GCM with nonces of 24 bytes, by the specification at
//! <https://c2sp.org/XAES-256-GCM>.
//!
//! The first half of the nonce and the key give the key for AES-256-GCM, whose nonce is the second
//! half. Long nonces may be random: replicas need no common counter, and machines that are started from
//! the same image do not repeat a nonce.

use aes_gcm::{
    Aes256Gcm, KeyInit, Tag,
    aead::AeadInOut,
    aes::{Aes256, cipher::BlockCipherEncrypt},
};
pub(super) use zeroize::Zeroizing;

use super::Nonce;

pub(super) const TAG_BYTES: usize = 16;

const BLOCK_BYTES: usize = 16;
const HALF_NONCE_BYTES: usize = 12;

/// A cipher with its key.
#[derive(Clone)]
pub(super) struct Cipher {
    aes: Aes256,
    /// The mask that CMAC applies to a complete last block; here the last block is always complete.
    mask: [u8; BLOCK_BYTES],
}

impl Cipher {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let aes = Aes256::new(key.into());
        let mut zero = [0; BLOCK_BYTES].into();
        aes.encrypt_block(&mut zero);
        Self {
            mask: doubled(zero.into()),
            aes,
        }
    }

    /// Encrypts in place. Returns `None` for more than 64 GiB.
    pub(super) fn seal(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        text: &mut [u8],
    ) -> Option<[u8; TAG_BYTES]> {
        let (cipher, rest) = self.of(nonce);
        let tag = cipher.encrypt_inout_detached(&rest.into(), aad, text.into());
        tag.ok().map(Into::into)
    }

    /// Decrypts in place. Returns `None` if a single bit was changed.
    pub(super) fn open(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        text: &mut [u8],
        tag: [u8; TAG_BYTES],
    ) -> Option<()> {
        let (cipher, rest) = self.of(nonce);
        cipher
            .decrypt_inout_detached(&rest.into(), aad, text.into(), &Tag::from(tag))
            .ok()
    }

    /// Returns the cipher for the first half of a nonce, and the second half.
    fn of(&self, nonce: &Nonce) -> (Aes256Gcm, [u8; HALF_NONCE_BYTES]) {
        let mut rest = [0; HALF_NONCE_BYTES];
        rest.copy_from_slice(&nonce[HALF_NONCE_BYTES..]);
        let mut key = Zeroizing::new([0; 2 * BLOCK_BYTES]);
        for (counter, half) in (1..).zip(key.chunks_exact_mut(BLOCK_BYTES)) {
            let mut block = self.mask;
            block[1] ^= counter;
            block[2] ^= b'X';
            for (masked, byte) in block[4..].iter_mut().zip(&nonce[..HALF_NONCE_BYTES]) {
                *masked ^= byte;
            }
            let mut block = block.into();
            self.aes.encrypt_block(&mut block);
            half.copy_from_slice(&block);
        }
        (Aes256Gcm::new((&*key).into()), rest)
    }
}

/// Doubles a block in the field of CMAC.
fn doubled(block: [u8; BLOCK_BYTES]) -> [u8; BLOCK_BYTES] {
    let number = u128::from_be_bytes(block);
    // The polynomial is added with arithmetic instead of a branch, because the block is a secret.
    ((number << 1) ^ ((number >> 127) * 0x87)).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_gives_what_the_specification_gives() {
        for (key, aad, sealed, seal) in [
            (
                [1; 32],
                &b""[..],
                0xce54_6ef6_3c9c_c607_6592_3609,
                0xb33a_9a19_74e9_6e52_daf2_fcf7_075e_2271,
            ),
            (
                [3; 32],
                b"c2sp.org/XAES-256-GCM",
                0x986e_c183_2593_df54_43a1_7943,
                0x7fd0_83bf_3fdb_41ab_d740_a21f_71eb_769d,
            ),
        ] {
            let cipher = Cipher::new(&key);
            let nonce = *b"ABCDEFGHIJKLMNOPQRSTUVWX";
            let mut text = *b"XAES-256-GCM";
            let tag = cipher.seal(&nonce, aad, &mut text).unwrap();
            assert_eq!(text, u128::to_be_bytes(sealed)[4..]);
            assert_eq!(tag, u128::to_be_bytes(seal));
            assert!(cipher.open(&nonce, aad, &mut text, tag).is_some());
            assert_eq!(&text, b"XAES-256-GCM");
        }
    }

    #[test]
    fn every_bit_counts() {
        let cipher = Cipher::new(&[7; 32]);
        let nonce = [9; 24];
        let mut sealed = *b"hello";
        let tag = cipher.seal(&nonce, b"for", &mut sealed).unwrap();
        let opens = |nonce: &Nonce, aad: &[u8], mut text: [u8; 5], tag| {
            cipher.open(nonce, aad, &mut text, tag).is_some()
        };
        assert!(opens(&nonce, b"for", sealed, tag));
        for bit in 0..8 * nonce.len() {
            let mut other = nonce;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!opens(&other, b"for", sealed, tag), "nonce, bit {bit}");
        }
        for bit in 0..8 * sealed.len() {
            let mut other = sealed;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!opens(&nonce, b"for", other, tag), "text, bit {bit}");
        }
        for bit in 0..8 * tag.len() {
            let mut other = tag;
            other[bit / 8] ^= 1 << (bit % 8);
            assert!(!opens(&nonce, b"for", sealed, other), "tag, bit {bit}");
        }
        assert!(!opens(&nonce, b"fro", sealed, tag));
    }
}
