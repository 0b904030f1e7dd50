//! `Secret`: text that is never printed.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// A token, password or code. `Debug` never shows it, and it is wiped from memory when it is
/// dropped. It cannot be serialised by accident, and is compared in constant time.
///
/// ```
/// use turnbuckle_auth::Secret;
///
/// let secret = Secret::new("sesame");
/// assert_eq!(format!("{secret:?}"), "Secret");
/// assert_eq!(secret.expose(), "sesame");
/// ```
#[derive(Clone)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps a text so that it is not logged by accident. `&str` and `String` are converted
    /// implicitly where a method takes `impl Into<Secret>`.
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The text itself. Use it only where the secret is sent or stored, and never log it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        // Any program on the machine can send a `state`. The timing must not reveal how much of it
        // is right.
        crate::jose::is_same(self.0.as_bytes(), other.0.as_bytes())
    }
}

impl Eq for Secret {}

/// Secrets are read from responses and stores. There is no `Serialize`: code that writes a secret
/// must do so explicitly.
impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}
