//! Whether rules can judge the arguments of a call.

use std::{collections::HashSet, fmt};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use turnbuckle_protocol::envelope::Raw;

use crate::spelling::folded;

/// Reads arguments for rules. The error says what another program could understand differently than rules do: two
/// members of one name (also if the names differ only in case), a string that is not valid Unicode, deep nesting.
pub(super) fn judgeable(arguments: Raw<'_>) -> Result<Value, String> {
    let Judgeable(value) = arguments.parse().map_err(|error| error.to_string())?;
    Ok(value)
}

/// A value in which each name is there once.
struct Judgeable(Value);

impl<'de> Deserialize<'de> for Judgeable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JudgeableVisitor)
    }
}

struct JudgeableVisitor;

impl<'de> Visitor<'de> for JudgeableVisitor {
    type Value = Judgeable;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Judgeable, E> {
        Ok(Judgeable(Value::Null))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Judgeable, E> {
        Ok(Judgeable(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Judgeable, E> {
        Ok(Judgeable(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Judgeable, E> {
        Ok(Judgeable(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Judgeable, E> {
        Ok(Judgeable(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Judgeable, E> {
        Ok(Judgeable(value.into()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Judgeable, E> {
        Ok(Judgeable(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Judgeable, A::Error> {
        let mut list = Vec::new();
        while let Some(Judgeable(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Judgeable(list.into()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Judgeable, A::Error> {
        let mut object = serde_json::Map::new();
        let mut names = HashSet::new();
        while let Some(name) = members.next_key::<String>()? {
            if !names.insert(folded(&name).collect::<String>()) {
                return Err(A::Error::custom(format!("duplicate member `{name}`")));
            }
            let Judgeable(value) = members.next_value()?;
            object.insert(name, value);
        }
        Ok(Judgeable(object.into()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::RawValue};

    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        judgeable(Raw::from(
            serde_json::from_str::<&RawValue>(text).expect("JSON"),
        ))
    }

    #[test]
    fn arguments_are_read_as_they_are() {
        let text = r#"{"a":[1,-2,3.5,"x",null,true,{"b":{}}],"c":"\u00e9"}"#;
        let expected = json!({ "a": [1, -2, 3.5, "x", null, true, { "b": {} }], "c": "é" });
        assert_eq!(read(text), Ok(expected));
    }

    #[test]
    fn what_others_may_read_differently_is_refused() {
        let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(200), "]".repeat(200));
        for (text, expected) in [
            (r#"{"a":1,"a":2}"#, "duplicate member `a`"),
            (r#"{"a":1,"\u0061":2}"#, "duplicate member `a`"),
            (r#"{"a":1,"A":2}"#, "duplicate member `A`"),
            (r#"{"s":1,"\u017f":2}"#, "duplicate member `ſ`"),
            (r#"{"x":[{"a":1,"b":0,"a":2}]}"#, "duplicate member `a`"),
            (r#"{"a":"\ud800"}"#, "hex escape"),
            (&deep, "recursion limit"),
        ] {
            let error = read(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
