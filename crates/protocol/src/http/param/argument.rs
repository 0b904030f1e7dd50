//! Reads the annotated arguments of a call.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{HeaderFault, Node};

/// An argument that is present and not null.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Found<'a> {
    Text(Cow<'a, str>),
    Number(Number),
    Boolean(bool),
    /// An object or array, which no schema with a valid annotation allows.
    Composite,
}

/// Finds every annotated argument, with the index of its param.
///
/// A duplicate member is returned each time, so that a check is valid whichever of them a handler uses.
pub(super) fn find<'a>(
    root: &Node,
    arguments: impl Deserializer<'a>,
) -> Result<Vec<(usize, Found<'a>)>, HeaderFault> {
    let mut found = Vec::new();
    let walk = Walk {
        node: root,
        found: &mut found,
    };
    walk.deserialize(arguments)
        .map_err(|error| HeaderFault::Unreadable {
            reason: error.to_string(),
        })?;
    Ok(found)
}

/// A step through the arguments along the annotated properties.
struct Walk<'w, 'a> {
    node: &'w Node,
    found: &'w mut Vec<(usize, Found<'a>)>,
}

impl<'a> Walk<'_, 'a> {
    fn record(self, found: Found<'a>) {
        if let Some(index) = self.node.param {
            self.found.push((index, found));
        }
    }
}

impl<'a> DeserializeSeed<'a> for Walk<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Walk<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the arguments of a tool")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(Name)? {
            let child = self.node.children.iter().find(|(key, _)| *key == name);
            match child {
                Some((_, node)) => map.next_value_seed(Walk {
                    node,
                    found: &mut *self.found,
                })?,
                None => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        self.record(Found::Composite);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut sequence: A) -> Result<(), A::Error> {
        while sequence.next_element::<IgnoredAny>()?.is_some() {}
        self.record(Found::Composite);
        Ok(())
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<(), E> {
        self.record(Found::Text(Cow::Borrowed(text)));
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.record(Found::Text(Cow::Owned(text.to_owned())));
        Ok(())
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.record(Found::Boolean(value));
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.record(Found::Number(value.into()));
        Ok(())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.record(Found::Number(value.into()));
        Ok(())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        if let Some(number) = Number::from_f64(value) {
            self.record(Found::Number(number));
        }
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        self.deserialize(deserializer)
    }
}

/// The name of a member, borrowed if it has no escapes.
struct Name;

impl<'a> DeserializeSeed<'a> for Name {
    type Value = Cow<'a, str>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Cow<'a, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'a> Visitor<'a> for Name {
    type Value = Cow<'a, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an argument")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'a str) -> Result<Cow<'a, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'a, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}
