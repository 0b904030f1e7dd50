//! What a client declared, read when somebody wants to know.

use serde::Deserialize;
use turnbuckle_protocol::{ClientCapabilities, ElicitationCapability, envelope::RawText};

/// The capabilities of a client. A call whose answers are all there never looks at them, so they
/// may stay the text they came in.
#[derive(Clone, Debug)]
pub enum Declared {
    /// Read.
    Read(Box<ClientCapabilities>),
    /// As they came. What cannot be read declares nothing.
    Text(RawText),
}

/// The part that most questions need.
#[derive(Default, Deserialize)]
struct Elicitation {
    elicitation: Option<ElicitationCapability>,
}

impl Declared {
    pub(super) fn read(&mut self) -> &ClientCapabilities {
        if let Self::Text(text) = self {
            let read = serde_json::from_str(text.raw().get());
            *self = Self::Read(read.unwrap_or_default());
        }
        match self {
            Self::Read(capabilities) => capabilities,
            Self::Text(_) => unreachable!("it was read just now"),
        }
    }

    /// Whether the client can show a person a form, without reading what else it can do.
    pub(super) fn has_form_elicitation(&self) -> bool {
        match self {
            Self::Read(capabilities) => capabilities.has_form_elicitation(),
            Self::Text(text) => {
                let read: Elicitation = serde_json::from_str(text.raw().get()).unwrap_or_default();
                read.elicitation.is_some_and(|it| it.has_form())
            }
        }
    }
}

impl From<ClientCapabilities> for Declared {
    fn from(capabilities: ClientCapabilities) -> Self {
        Self::Read(Box::new(capabilities))
    }
}
