//! `Raw`: unparsed JSON values.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A well-formed, unparsed JSON value inside a message.
///
/// It corresponds to serde's [`RawValue`], but was found during the scan of the message, so no second
/// pass is needed.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// An object without members.
    pub const EMPTY_OBJECT: Raw<'static> = Raw("{}");

    /// `text` must be one JSON value without white space around it.
    pub(super) const fn found(text: &'a str) -> Self {
        Self(text)
    }

    /// Returns the text.
    pub const fn get(self) -> &'a str {
        self.0
    }

    /// Returns whether the value is an object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Returns whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Parses the value as a type.
    ///
    /// # Errors
    /// Fails if the value is not of that type.
    pub fn parse<T: Deserialize<'a>>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0)
    }

    /// Converts to serde's type. Serde scans the value once more.
    pub fn value(self) -> &'a RawValue {
        // The scan has found it well-formed, but serde checks it again.
        serde_json::from_str(self.0).unwrap_or(RawValue::NULL)
    }
}

/// An unparsed JSON value that does not borrow from its message. Clones share the text.
#[derive(Clone, Debug)]
pub struct RawText(Arc<str>);

impl RawText {
    /// `text` must be one JSON value without white space around it.
    pub(super) fn found(text: String) -> Self {
        Self(text.into())
    }

    /// Returns the value.
    pub fn raw(&self) -> Raw<'_> {
        Raw(&self.0)
    }
}

impl From<Raw<'_>> for RawText {
    fn from(raw: Raw<'_>) -> Self {
        Self(raw.0.into())
    }
}

impl<'a> From<&'a RawValue> for Raw<'a> {
    fn from(value: &'a RawValue) -> Self {
        Self(value.get())
    }
}

impl<'a> From<&'a Box<RawValue>> for Raw<'a> {
    fn from(value: &'a Box<RawValue>) -> Self {
        Self(value.get())
    }
}

/// A value that borrows from its message, or owns its text.
#[derive(Clone, Debug)]
pub enum Held<'a> {
    /// Borrowed from the message.
    Borrowed(Raw<'a>),
    /// Owned.
    Owned(Box<RawValue>),
}

impl Held<'_> {
    /// Returns the value.
    pub fn raw(&self) -> Raw<'_> {
        match self {
            Self::Borrowed(raw) => *raw,
            Self::Owned(value) => value.into(),
        }
    }

    /// Converts to an owned value.
    pub fn into_owned(self) -> Held<'static> {
        Held::Owned(match self {
            Self::Borrowed(raw) => raw.value().to_owned(),
            Self::Owned(value) => value,
        })
    }
}
