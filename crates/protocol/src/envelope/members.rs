//! A JSON object parsed one level deep: names, and unparsed values.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{
    Raw, RequestMeta,
    scan::{NotJson, Scanner},
};

/// How many members are stored without allocating: `name`, `arguments`, `_meta` and three more are
/// enough for every request of the protocol.
const INLINE: usize = 6;

/// The limit on members of `params`. No request of the protocol has a tenth of it, and the time for
/// finding duplicates grows with the square of their number.
pub(super) const MAX_MEMBERS: usize = 256;

type Member<'a> = (Cow<'a, str>, Raw<'a>);

/// The members of an object, in order, each value as its text.
///
/// Parsing `params` like this takes one pass, whatever the order of the members, and leaves a large
/// argument unparsed until its type is known.
#[derive(Clone, Debug, Default)]
pub struct Members<'a> {
    inline: [Option<Member<'a>>; INLINE],
    more: Vec<Member<'a>>,
    meta: Option<RequestMeta<'a>>,
    raw: Option<Raw<'a>>,
}

impl<'a> Members<'a> {
    /// Parses an object. Returns `None` if the value is not an object, or contains a duplicate name.
    pub fn of(raw: Raw<'a>) -> Option<Self> {
        match Params::read(&mut Scanner::new(raw.get())) {
            Ok(Params::Object(members)) => Some(members),
            _ => None,
        }
    }

    /// Returns the value of a member.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.iter()
            .find(|(member, _)| *member == name)
            .map(|(_, value)| value)
    }

    /// Returns `_meta`, parsed together with the other members; `None` if it is missing or not an
    /// object.
    pub fn meta(&self) -> Option<&RequestMeta<'a>> {
        self.meta.as_ref()
    }

    /// Returns the text of the whole object, white space included; `None` if there was no object.
    pub fn raw(&self) -> Option<Raw<'a>> {
        self.raw
    }

    /// Returns the text of a member that is a string.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(super::text_of)
    }

    /// Returns all members, in the order of the message.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Raw<'a>)> {
        self.inline
            .iter()
            .flatten()
            .chain(&self.more)
            .map(|(name, value)| (&**name, *value))
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.inline[0].is_none()
    }

    /// Parses all members as one typed value. This serialises the object again, so that every type is
    /// parsed as from a message. Use it for requests where speed does not matter.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.to_raw().get())
    }

    /// Returns the object as one JSON text.
    #[expect(
        clippy::missing_panics_doc,
        reason = "made of members that were JSON already"
    )]
    pub fn to_raw(&self) -> Box<RawValue> {
        let mut text = String::from("{");
        for (index, (name, value)) in self.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(&serde_json::to_string(name).expect("a string is always valid JSON"));
            text.push(':');
            text.push_str(value.get());
        }
        text.push('}');
        RawValue::from_string(text).expect("made of valid members")
    }

    /// Returns the name as an error if it already exists.
    fn insert(&mut self, name: Cow<'a, str>, value: Raw<'a>) -> Result<(), Cow<'a, str>> {
        for slot in &mut self.inline {
            match slot {
                Some((other, _)) if *other == name => return Err(name),
                Some(_) => {}
                None => {
                    *slot = Some((name, value));
                    return Ok(());
                }
            }
        }
        if self.more.iter().any(|(other, _)| *other == name) {
            return Err(name);
        }
        self.more.push((name, value));
        Ok(())
    }
}

/// The value of `params`.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and short-lived"
)]
pub(super) enum Params<'a> {
    Object(Members<'a>),
    Duplicate(String),
    TooMany,
    NotAnObject,
}

impl<'a> Params<'a> {
    /// Scans the value of `params`.
    pub(super) fn read(scanner: &mut Scanner<'a>) -> Result<Self, NotJson> {
        if scanner.peek() != Some(b'{') {
            // Some clients write `"params": null` instead of leaving the params out.
            return Ok(if scanner.value()?.is_null() {
                Self::Object(Members::default())
            } else {
                Self::NotAnObject
            });
        }
        let mut members = Members::default();
        let mut duplicate = None;
        let mut count = 0_usize;
        let start = scanner.position();
        scanner.members(|scanner, name| {
            let value = if name == "_meta" && scanner.peek() == Some(b'{') {
                let (raw, meta) = scanner.value_by(RequestMeta::read)?;
                members.meta = Some(RequestMeta {
                    raw: Some(raw),
                    ..meta
                });
                raw
            } else {
                scanner.value()?
            };
            count += 1;
            // After an error, the rest must still be valid JSON.
            if duplicate.is_none() && count <= MAX_MEMBERS {
                duplicate = members.insert(name, value).err();
            }
            Ok(())
        })?;
        members.raw = Some(Raw::found(&scanner.text()[start..scanner.position()]));
        Ok(match duplicate {
            Some(name) => Self::Duplicate(name.into_owned()),
            None if count > MAX_MEMBERS => Self::TooMany,
            None => Self::Object(members),
        })
    }
}
