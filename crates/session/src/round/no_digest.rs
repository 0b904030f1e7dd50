//! Replaces SHA-256 in servers that ask nothing: they have no state to bind.

/// A digest that is always the same.
pub(super) struct Sha256;

impl Sha256 {
    pub(super) fn new() -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "as the digest has it")]
    pub(super) fn update(&mut self, _bytes: impl AsRef<[u8]>) {}

    #[expect(clippy::unused_self, reason = "as the digest has it")]
    pub(super) fn finalize(self) -> [u8; 32] {
        [0; 32]
    }
}
