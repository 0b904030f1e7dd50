//! The capabilities that a client declared, parsed on first use.

use serde::Deserialize;
use turnbuckle_protocol::{ClientCapabilities, ElicitationCapability, envelope::RawText};

/// The capabilities of a client. Most calls never need them, so they may stay unparsed.
#[derive(Clone, Debug)]
pub enum Declared {
    /// Parsed.
    Read(Box<ClientCapabilities>),
    /// Unparsed. If they cannot be parsed as a whole, only elicitation counts as declared, if that part
    /// can be parsed.
    Text(RawText),
}

/// Parses the part that most questions need.
fn elicitation(capabilities: &RawText) -> Option<ElicitationCapability> {
    #[derive(Deserialize)]
    struct Part {
        elicitation: Option<ElicitationCapability>,
    }
    let part: Result<Part, _> = serde_json::from_str(capabilities.raw().get());
    part.ok()?.elicitation
}

impl Declared {
    pub(super) fn read(&mut self) -> &ClientCapabilities {
        if let Self::Text(text) = self {
            let read = serde_json::from_str(text.raw().get());
            *self = Self::Read(read.unwrap_or_else(|_| {
                let mut capabilities = ClientCapabilities::new();
                capabilities.elicitation = elicitation(text);
                Box::new(capabilities)
            }));
        }
        match self {
            Self::Read(capabilities) => capabilities,
            Self::Text(_) => unreachable!("it was read just now"),
        }
    }

    /// Whether the client can show forms. Only this part is parsed.
    pub(super) fn has_form_elicitation(&self) -> bool {
        match self {
            Self::Read(capabilities) => capabilities.has_form_elicitation(),
            Self::Text(text) => elicitation(text).is_some_and(|it| it.has_form()),
        }
    }
}

impl From<ClientCapabilities> for Declared {
    fn from(capabilities: ClientCapabilities) -> Self {
        Self::Read(Box::new(capabilities))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;
    use turnbuckle_protocol::envelope::Raw;

    use super::*;

    #[test]
    fn a_form_can_be_shown_whatever_was_looked_at_before() {
        for (text, can) in [
            (r#"{"elicitation":{}}"#, true),
            (r#"{"elicitation":{"form":{}},"experimental":true}"#, true),
            (r#"{"elicitation":{"url":{}},"extensions":[]}"#, false),
            (r#"{"roots":{}}"#, false),
            ("7", false),
        ] {
            let raw = RawValue::from_string(text.to_owned()).unwrap();
            let mut declared = Declared::Text(Raw::from(&*raw).into());
            assert_eq!(declared.has_form_elicitation(), can, "{text}");
            assert_eq!(declared.read().has_form_elicitation(), can, "{text}");
            assert_eq!(declared.has_form_elicitation(), can, "{text}, read");
        }
    }
}
