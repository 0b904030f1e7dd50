//! What a client declared, read when somebody wants to know.

use serde_json::value::RawValue;
use turnbuckle_protocol::ClientCapabilities;

/// The capabilities of a client. A call whose answers are all there never looks at them, so they
/// may stay the text they came in.
#[derive(Clone, Debug)]
pub enum Declared {
    /// Read.
    Read(Box<ClientCapabilities>),
    /// As they came. What cannot be read declares nothing.
    Text(Box<RawValue>),
}

impl Declared {
    pub(super) fn read(&mut self) -> &ClientCapabilities {
        if let Self::Text(text) = self {
            let read = serde_json::from_str(text.get()).unwrap_or_default();
            *self = Self::Read(Box::new(read));
        }
        match self {
            Self::Read(capabilities) => capabilities,
            Self::Text(_) => unreachable!("it was read just now"),
        }
    }
}

impl From<ClientCapabilities> for Declared {
    fn from(capabilities: ClientCapabilities) -> Self {
        Self::Read(Box::new(capabilities))
    }
}

impl From<&RawValue> for Declared {
    fn from(text: &RawValue) -> Self {
        Self::Text(text.to_owned())
    }
}
