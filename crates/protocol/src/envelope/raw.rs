//! `Raw`: unparsed JSON values.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A JSON value inside a message, unparsed, known to be well-formed.
///
/// It corresponds to serde's [`RawValue`], but was found by the pass that read the message, so no
/// second pass is needed.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// An object without members.
    pub const EMPTY_OBJECT: Raw<'static> = Raw("{}");

    /// `text` must be one JSON value without white space around it.
    pub(super) const fn found(text: &'a str) -> Self {
        Self(text)
    }

    /// The text.
    pub const fn get(self) -> &'a str {
        self.0
    }

    /// Whether the value is an object.
    pub fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    /// Whether the value is `null`.
    pub fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// Reads it as a type.
    ///
    /// # Errors
    /// When the value is not of that type.
    pub fn parse<T: Deserialize<'a>>(self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.0)
    }

    /// The same as serde knows it. Serde looks at all of it once more.
    pub fn value(self) -> &'a RawValue {
        // It was found to be well-formed; serde has the last word on what that means.
        serde_json::from_str(self.0).unwrap_or(RawValue::NULL)
    }
}

/// A JSON value that has outlived its message, still unparsed. Clones share the text.
#[derive(Clone, Debug)]
pub struct RawText(Arc<str>);

impl RawText {
    /// `text` must be one JSON value without white space around it.
    pub(super) fn found(text: String) -> Self {
        Self(text.into())
    }

    /// The value.
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

/// A value inside a message, or one that has outlived its message.
#[derive(Clone, Debug)]
pub enum Held<'a> {
    /// Still in the message.
    Borrowed(Raw<'a>),
    /// Taken out of it.
    Owned(Box<RawValue>),
}

impl Held<'_> {
    /// The value.
    pub fn raw(&self) -> Raw<'_> {
        match self {
            Self::Borrowed(raw) => *raw,
            Self::Owned(value) => value.into(),
        }
    }

    /// The same, taken out of the message.
    pub fn into_owned(self) -> Held<'static> {
        Held::Owned(match self {
            Self::Borrowed(raw) => raw.value().to_owned(),
            Self::Owned(value) => value,
        })
    }
}
