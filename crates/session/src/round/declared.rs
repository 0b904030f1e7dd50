//! What a client declared, read when somebody wants to know.

use turnbuckle_protocol::{
    ClientCapabilities,
    envelope::{RawText, RequestMeta},
};

/// The capabilities of a client. A call whose answers are all there never looks at them, so they
/// may stay the text they came in.
#[derive(Clone, Debug)]
pub enum Declared {
    /// Read.
    Read(Box<ClientCapabilities>),
    /// In the `_meta` of a request, as it came. What cannot be read declares nothing.
    Meta(RawText),
}

impl Declared {
    pub(super) fn read(&mut self) -> &ClientCapabilities {
        if let Self::Meta(meta) = self {
            let text = RequestMeta::from_raw(meta.raw()).and_then(|meta| meta.client_capabilities);
            let read = text.and_then(|text| serde_json::from_str(text.get()).ok());
            *self = Self::Read(read.unwrap_or_default());
        }
        match self {
            Self::Read(capabilities) => capabilities,
            Self::Meta(_) => unreachable!("it was read just now"),
        }
    }
}

impl From<ClientCapabilities> for Declared {
    fn from(capabilities: ClientCapabilities) -> Self {
        Self::Read(Box::new(capabilities))
    }
}
