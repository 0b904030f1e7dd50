//! Unparsed messages, for tools that show, record or check messages of others.

use std::borrow::Cow;

use super::{Id, IdRef, Raw, scan::Scanner, text_of};

/// The members of a message, valid or not.
///
/// [`parse`](super::parse) refuses a message that breaks the rules of JSON-RPC. This type shows the
/// members of such a message: a response without `jsonrpc` still has its id and its result. If a member
/// is duplicated, the last one counts.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Outline<'a> {
    /// `id`.
    pub id: Option<Raw<'a>>,
    /// `params`.
    pub params: Option<Raw<'a>>,
    /// `result`.
    pub result: Option<Raw<'a>>,
    /// `error`.
    pub error: Option<Raw<'a>>,
    method: Option<Raw<'a>>,
}

impl<'a> Outline<'a> {
    /// Parses the members of a message; empty if the message is not a JSON object.
    pub fn of(message: &'a [u8]) -> Self {
        let mut outline = Self::default();
        let Ok(text) = std::str::from_utf8(message) else {
            return outline;
        };
        let mut scanner = Scanner::new(text);
        let walked = scanner.members(|scanner, name| {
            let value = Some(scanner.value()?);
            match &*name {
                "id" => outline.id = value,
                "method" => outline.method = value,
                "params" => outline.params = value,
                "result" => outline.result = value,
                "error" => outline.error = value,
                _ => {}
            }
            Ok(())
        });
        match walked.and_then(|()| scanner.end()) {
            Ok(()) => outline,
            Err(_) => Self::default(),
        }
    }

    /// Returns `id`, if it is a string or an integer.
    pub fn id(&self) -> Option<Id> {
        self.id.and_then(IdRef::from_raw).map(IdRef::into_owned)
    }

    /// Returns `method`, if it is a string.
    pub fn method(&self) -> Option<Cow<'a, str>> {
        self.method.and_then(text_of)
    }

    /// Returns whether the message is a response: a `result` or an `error` without a `method`.
    pub fn is_response(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_messages_show_what_they_say() {
        let response = Outline::of(br#"{"id":1.5,"result":{"x":1}}"#);
        assert!(response.is_response());
        assert_eq!(response.id.map(Raw::get), Some("1.5"));
        let request = Outline::of(br#"{"id":null,"method":"a\nb","params":[]}"#);
        assert_eq!(request.method().as_deref(), Some("a\nb"));
        assert_eq!(request.params.map(Raw::get), Some("[]"));
        assert!(!request.is_response());
        for other in ["", "7", "[{}]", r#"{"id":1"#, r#"{"id":1} x"#, "\u{feff}{}"] {
            let outline = Outline::of(other.as_bytes());
            assert!(outline.id.is_none() && !outline.is_response(), "{other}");
        }
    }
}
