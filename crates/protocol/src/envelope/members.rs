//! A JSON object read one level deep: names, and values still unparsed.

use std::borrow::Cow;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{
    Raw, RequestMeta,
    scan::{NotJson, Scanner},
};

/// How many members are kept without allocating: `name`, `arguments`, `_meta` and three more cover
/// every request of the protocol.
const INLINE: usize = 6;

/// The most members that `params` may have. No request of the protocol has a tenth of it; finding
/// duplicates among very many would take time that grows with their square.
pub(super) const MAX_MEMBERS: usize = 256;

type Member<'a> = (Cow<'a, str>, Raw<'a>);

/// The members of an object, in order, each value as the text it came in.
///
/// Reading `params` this way costs one pass, whatever order the members come in, and leaves
/// a large argument untouched until its type is known.
#[derive(Clone, Debug, Default)]
pub struct Members<'a> {
    inline: [Option<Member<'a>>; INLINE],
    more: Vec<Member<'a>>,
    meta: Option<RequestMeta<'a>>,
    raw: Option<Raw<'a>>,
}

impl<'a> Members<'a> {
    /// Reads an object; `None` for what is not an object, and for one with a name twice.
    pub fn of(raw: Raw<'a>) -> Option<Self> {
        match Params::read(&mut Scanner::new(raw.get())) {
            Ok(Params::Object(members)) => Some(members),
            _ => None,
        }
    }

    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.iter()
            .find(|(member, _)| *member == name)
            .map(|(_, value)| value)
    }

    /// `_meta`, read along with the other members; `None` if it is missing or not an object.
    pub fn meta(&self) -> Option<&RequestMeta<'a>> {
        self.meta.as_ref()
    }

    /// The whole object as it came, white space included; `None` if there was no object.
    pub fn raw(&self) -> Option<Raw<'a>> {
        self.raw
    }

    /// The text of a member that is a string.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.get(name).and_then(super::text_of)
    }

    /// Every member, in the order of the message.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Raw<'a>)> {
        self.inline
            .iter()
            .flatten()
            .chain(&self.more)
            .map(|(name, value)| (&**name, *value))
    }

    /// Whether there is no member at all.
    pub fn is_empty(&self) -> bool {
        self.inline[0].is_none()
    }

    /// Reads all members as one typed value. Writes the object again for it, so that every type
    /// reads it as it would a message: for requests that are not on the hot path.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.to_raw().get())
    }

    /// The object as one JSON text.
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

    /// Gives the name back if it is there already.
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
    /// Passes over the value of `params`.
    pub(super) fn read(scanner: &mut Scanner<'a>) -> Result<Self, NotJson> {
        if scanner.peek() != Some(b'{') {
            // Some clients write `"params": null` where they mean none.
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
            // Once it is refused, the rest must still be JSON.
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
