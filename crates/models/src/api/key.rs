//! The key of an API.

use std::fmt;

use zeroize::Zeroizing;

/// The text that replaces a key in logs and errors.
const MASK: &str = "***";

/// The key of an API. `Debug` never shows it, it is wiped when it is dropped, and it is masked in
/// all texts of the API.
///
/// ```
/// use turnbuckle_models::ApiKey;
///
/// assert_eq!(format!("{:?}", ApiKey::new("sesame")), "ApiKey(***)");
/// ```
#[derive(Clone)]
pub struct ApiKey(Zeroizing<String>);

impl ApiKey {
    /// Wraps a key. White space around it, as at the end of a file, is removed.
    pub fn new(key: impl Into<String>) -> Self {
        let key = Zeroizing::new(key.into());
        Self(Zeroizing::new(key.trim().to_owned()))
    }

    /// Reads the key from an environment variable. Returns `None` if the variable is unset or empty.
    pub fn from_environment(variable: &str) -> Option<Self> {
        let key = std::env::var(variable).ok().map(Self::new)?;
        (!key.0.is_empty()).then_some(key)
    }

    pub(super) fn expose(&self) -> &str {
        &self.0
    }

    /// Masks the key in a text, and also long parts of it that an API may quote.
    pub(super) fn masked(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        text.replace(self.0.as_str(), MASK)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({MASK})")
    }
}
