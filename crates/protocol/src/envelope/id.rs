//! Request ids: strings or integers of any size, never null.

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

/// The id of a request, owned.
///
/// Integers keep their digits, so ids beyond 2^53 (and beyond 64 bits) are returned unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// An integer that fits 64 bits.
    Int(i64),
    /// An integer beyond 64 bits, as its digits.
    Big(Box<str>),
    /// A string.
    Text(Box<str>),
}

impl Id {
    /// Returns the same id, borrowed.
    pub fn as_ref(&self) -> IdRef<'_> {
        match self {
            Self::Int(number) => IdRef::Int(*number),
            Self::Big(digits) => IdRef::Big(Cow::Borrowed(digits)),
            Self::Text(text) => IdRef::Text(Cow::Borrowed(text)),
        }
    }
}

/// The id of a request, borrowed from its message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum IdRef<'a> {
    /// An integer that fits 64 bits.
    Int(i64),
    /// An integer beyond 64 bits, as its digits.
    Big(Cow<'a, str>),
    /// A string.
    Text(Cow<'a, str>),
}

impl<'a> IdRef<'a> {
    /// Parses one JSON token. Returns `None` if it is not a string or an integer.
    pub fn from_raw(raw: impl Into<super::Raw<'a>>) -> Option<Self> {
        let raw: super::Raw<'a> = raw.into();
        let text = raw.get();
        match text.as_bytes().first()? {
            b'"' => super::text_of(raw).map(Self::Text),
            b'-' | b'0'..=b'9' if text.bytes().skip(1).all(|byte| byte.is_ascii_digit()) => Some(
                text.parse()
                    .map_or(Self::Big(Cow::Borrowed(text)), Self::Int),
            ),
            b'-' | b'0'..=b'9' => whole(text).map(Self::Int),
            _ => None,
        }
    }

    /// Converts to an owned id.
    pub fn into_owned(self) -> Id {
        match self {
            Self::Int(number) => Id::Int(number),
            Self::Big(digits) => Id::Big(digits.into()),
            Self::Text(text) => Id::Text(text.into()),
        }
    }

    /// Converts to an id that borrows nothing.
    pub fn into_static(self) -> IdRef<'static> {
        match self {
            Self::Int(number) => IdRef::Int(number),
            Self::Big(digits) => IdRef::Big(Cow::Owned(digits.into_owned())),
            Self::Text(text) => IdRef::Text(Cow::Owned(text.into_owned())),
        }
    }

    /// Appends the id as JSON.
    #[expect(clippy::missing_panics_doc, reason = "writing to a Vec cannot fail")]
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Int(number) => {
                use std::io::Write as _;
                write!(out, "{number}").expect("writing to a Vec cannot fail");
            }
            Self::Big(digits) => out.extend_from_slice(digits.as_bytes()),
            Self::Text(text) => {
                serde_json::to_writer(out, text).expect("a string is always valid JSON");
            }
        }
    }
}

/// Parses an integer with a fraction of zero, such as `3.0`.
#[cold]
fn whole(text: &str) -> Option<i64> {
    let (digits, zeros) = text.split_once('.')?;
    let is_whole = !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0');
    is_whole.then(|| digits.parse().ok()).flatten()
}

impl From<i64> for Id {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<&str> for Id {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Id {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::Big(text) | Self::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Big(digits) => match digits.parse::<i128>() {
                Ok(number) => serializer.serialize_i128(number),
                // Even larger: the digits are written unchanged.
                Err(_) => RawValue::from_string(digits.to_string())
                    .map_err(serde::ser::Error::custom)?
                    .serialize(serializer),
            },
        }
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = Id;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an integer")
            }

            fn visit_i64<E>(self, number: i64) -> Result<Id, E> {
                Ok(Id::Int(number))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Id, E> {
                Ok(i64::try_from(number)
                    .map_or_else(|_| Id::Big(number.to_string().into()), Id::Int))
            }

            fn visit_str<E>(self, text: &str) -> Result<Id, E> {
                Ok(Id::Text(text.into()))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Option<Id> {
        let raw: &RawValue = serde_json::from_str(json).unwrap();
        IdRef::from_raw(raw).map(IdRef::into_owned)
    }

    #[test]
    fn integers_keep_every_digit() {
        for digits in [
            "0",
            "-1",
            "9007199254740993",
            "18446744073709551615",
            "123456789012345678901234567890",
        ] {
            let id = parse(digits).unwrap();
            let mut out = Vec::new();
            id.as_ref().write(&mut out);
            assert_eq!(out, digits.as_bytes());
            assert_eq!(id.to_string(), digits);
        }
    }

    // rule: J1
    #[test]
    fn only_strings_and_integers_are_ids() {
        for json in ["null", "1.5", "1e3", "true", "[1]", "{}"] {
            assert_eq!(parse(json), None, "{json}");
        }
        assert_eq!(parse(r#""a\u0062""#), Some(Id::from("ab")));
    }
}
