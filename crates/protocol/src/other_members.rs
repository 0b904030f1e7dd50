//! Members that the specification does not name.
//!
//! If the specification's schema allows unknown members in an object, they are kept and written again,
//! so that a gateway loses nothing.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use crate::JsonObject;

/// The members of an object that the specification does not name, in their original order.
///
/// An empty value is as large as a pointer.
///
/// ```
/// use turnbuckle_protocol::ContentBlock;
///
/// let text = r#"{"type":"text","text":"hi","lang":"en"}"#;
/// let ContentBlock::Text(block) = serde_json::from_str(text)? else { panic!() };
/// assert_eq!(block.other.get("lang").unwrap(), "en");
/// assert_eq!(serde_json::to_string(&block)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OtherMembers(Option<Box<JsonObject>>);

impl OtherMembers {
    /// Creates a value without members.
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns whether there are no other members.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns a member.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.as_ref()?.get(name)
    }

    /// Adds or replaces a member.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0
            .get_or_insert_default()
            .insert(name.into(), value.into());
    }

    /// Returns all members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0.iter().flat_map(|members| members.iter())
    }

    /// Reads the members of a type that is identified by its `type`, which is left out.
    pub(crate) fn without_type<'de, D: Deserializer<'de>>(rest: D) -> Result<Self, D::Error> {
        rest.deserialize_map(MembersVisitor { without: "type" })
    }

    /// Reads the members of a result without `resultType`, which the types for outcomes handle.
    pub(crate) fn of_result<'de, D: Deserializer<'de>>(rest: D) -> Result<Self, D::Error> {
        rest.deserialize_map(MembersVisitor {
            without: "resultType",
        })
    }
}

impl From<JsonObject> for OtherMembers {
    fn from(members: JsonObject) -> Self {
        Self((!members.is_empty()).then(|| Box::new(members)))
    }
}

impl Serialize for OtherMembers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for OtherMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor { without: "" })
    }
}

struct MembersVisitor {
    /// The member that is handled elsewhere.
    without: &'static str,
}

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = OtherMembers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OtherMembers, A::Error> {
        let mut members = OtherMembers::new();
        while let Some(name) = map.next_key::<String>()? {
            if !self.without.is_empty() && name == self.without {
                map.next_value::<IgnoredAny>()?;
            } else {
                members.insert(name, map.next_value::<Value>()?);
            }
        }
        Ok(members)
    }
}
