//! Reads objects whose type is determined by one of their members (the tag).
//!
//! If the tag comes first, as nearly every peer writes it, the rest is read directly as the right type.
//! Otherwise the object is buffered first.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::Value;

use crate::json::{JsonObject, Text};

/// A type that is identified by one member of the object.
pub(crate) trait Tagged<'de>: Sized {
    /// The name of the tag.
    const TAG: &'static str;

    /// Reads the members other than the tag, whose value is known.
    fn read<D: Deserializer<'de>>(tag: Option<&str>, rest: D) -> Result<Self, D::Error>;
}

/// Reads a tagged object, whatever the order of its members.
pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Tagged<'de>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_map(TagVisitor(PhantomData))
}

/// The error for an unknown kind. It lists the known ones.
pub(crate) fn unknown<E: de::Error>(tag: &str, value: Option<&str>, known: &str) -> E {
    match value {
        Some(value) => E::custom(format_args!(
            "`{tag}` is `{value}`; expected one of {known}"
        )),
        None => E::custom(format_args!("`{tag}` is missing; expected one of {known}")),
    }
}

struct TagVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged<'de>> Visitor<'de> for TagVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with `{}`", T::TAG)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut members = JsonObject::new();
        if let Some(Text(first)) = map.next_key::<Text<'de>>()? {
            if first == T::TAG {
                let Text(tag) = map.next_value()?;
                return T::read(Some(&tag), MapAccessDeserializer::new(map));
            }
            members.insert(first.into_owned(), map.next_value()?);
        }
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            members.insert(name, value);
        }
        let tag = match members.remove(T::TAG) {
            None | Some(Value::Null) => None,
            Some(Value::String(tag)) => Some(tag),
            Some(_) => {
                return Err(de::Error::custom(format_args!(
                    "`{}` is not a string",
                    T::TAG
                )));
            }
        };
        T::read(tag.as_deref(), Value::Object(members)).map_err(de::Error::custom)
    }
}
