//! Arguments as callers write them: a struct, a map, pairs of names and values, JSON, or a single plain
//! value.

use std::collections::HashSet;

use serde::{Serialize, ser::Error};
use serde_json::{Value, value::RawValue};
use turnbuckle_protocol::Tool;

use crate::error::CallError;

/// The arguments of a call, as JSON.
#[derive(Debug)]
pub enum Arguments {
    /// `()` or `None`: nothing is sent.
    Absent,
    /// An object, or pairs that were converted to one.
    Object(Box<RawValue>),
    /// A string, a number or a boolean: the only argument of its tool.
    Plain(Box<RawValue>),
}

impl Arguments {
    /// Serialises the caller's value.
    ///
    /// # Errors
    /// Fails if the value cannot be serialised, if it is a list of anything but pairs, or if two pairs
    /// have the same name.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let raw = serde_json::value::to_raw_value(value)?;
        match raw.get().as_bytes().first() {
            Some(b'{') => Ok(Self::Object(raw)),
            Some(b'[') => pairs(&raw).map(Self::Object),
            Some(b'n') | None => Ok(Self::Absent),
            Some(_) => Ok(Self::Plain(raw)),
        }
    }

    /// Returns the object that is sent to this tool; `None` if there are no arguments.
    ///
    /// # Errors
    /// Fails if the value is plain and the tool does not take exactly one argument.
    pub fn for_tool(self, tool: &Tool) -> Result<Option<Box<RawValue>>, serde_json::Error> {
        match self {
            Self::Absent => Ok(None),
            Self::Object(object) => Ok(Some(object)),
            Self::Plain(value) => {
                let name = only_argument(tool).map_err(<serde_json::Error as Error>::custom)?;
                let named = serde_json::json!({ name: &*value });
                serde_json::value::to_raw_value(&named).map(Some)
            }
        }
    }
}

/// Serialises the caller's value as an object; `()` and `None` give `None`.
pub(super) fn object<T: Serialize + ?Sized>(
    method: &str,
    value: &T,
) -> Result<Option<Box<RawValue>>, CallError> {
    let object = match Arguments::of(value) {
        Ok(Arguments::Absent) => Ok(None),
        Ok(Arguments::Object(object)) => Ok(Some(object)),
        Ok(Arguments::Plain(_)) => Err(no_object("a single value")),
        Err(error) => Err(error),
    };
    object.map_err(|source| CallError::unwritable(method, source))
}

/// Converts pairs of names and values to an object.
fn pairs(list: &RawValue) -> Result<Box<RawValue>, serde_json::Error> {
    let pairs: Vec<(String, &RawValue)> =
        serde_json::from_str(list.get()).map_err(|_| without_pairs(list))?;
    let mut names = HashSet::new();
    if let Some((twice, _)) = pairs.iter().find(|(name, _)| !names.insert(name)) {
        let problem = format_args!("argument `{twice}` is given twice");
        return Err(Error::custom(problem));
    }
    let mut object = String::from("{");
    for (name, value) in &pairs {
        if object.len() > 1 {
            object.push(',');
        }
        object.push_str(&serde_json::to_string(name)?);
        object.push(':');
        object.push_str(value.get());
    }
    object.push('}');
    RawValue::from_string(object)
}

/// The error for a list with an entry that is not a pair. To serde, `("name", "Ada")` is a list of two
/// strings.
fn without_pairs(list: &RawValue) -> serde_json::Error {
    let entries: Vec<&RawValue> = serde_json::from_str(list.get()).unwrap_or_default();
    let is_pair =
        |entry: &&RawValue| serde_json::from_str::<(String, &RawValue)>(entry.get()).is_ok();
    let at = entries.iter().take_while(|entry| is_pair(entry)).count();
    no_object(&format!(
        "a list, and its entry {at} is not a pair of a name and a value (a single pair needs \
         brackets, too)"
    ))
}

fn no_object(found: &str) -> serde_json::Error {
    Error::custom(format_args!(
        "arguments must be a struct, a map, pairs such as `[(\"name\", \"Ada\")]`, or an object of \
         JSON; this is {found}"
    ))
}

/// The name of the only argument of a tool, or of its only required argument.
fn only_argument(tool: &Tool) -> Result<String, String> {
    let properties = tool
        .input_schema
        .get("properties")
        .and_then(Value::as_object);
    let names: Vec<&str> = properties
        .into_iter()
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect();
    let required = tool.input_schema.get("required").and_then(Value::as_array);
    let needed: Vec<&str> = required
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    match (&*names, &*needed) {
        ([only], _) | (_, [only]) => Ok((*only).to_owned()),
        ([], _) => Err(format!("`{}` takes no arguments", tool.name)),
        _ => Err(format!(
            "`{}` takes several arguments ({}): give them by name",
            tool.name,
            names.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use serde_json::json;

    use super::*;

    fn written(value: &impl Serialize) -> Option<String> {
        let object = object("m", value).unwrap();
        object.map(|raw| raw.get().to_owned())
    }

    fn problem(value: &impl Serialize) -> String {
        let error = object("m", value).unwrap_err();
        std::error::Error::source(&error).unwrap().to_string()
    }

    #[test]
    fn arguments_are_structs_maps_pairs_or_json() {
        #[derive(Serialize)]
        struct Seat {
            row: u8,
        }
        let wanted = Some(r#"{"row":12}"#.to_owned());
        assert_eq!(written(&Seat { row: 12 }), wanted);
        assert_eq!(written(&&Seat { row: 12 }), wanted);
        assert_eq!(written(&Some(Seat { row: 12 })), wanted);
        assert_eq!(written(&[("row", 12)]), wanted);
        assert_eq!(written(&vec![("row".to_owned(), 12)]), wanted);
        assert_eq!(written(&(("row", 12),)), wanted);
        assert_eq!(written(&json!({"row": 12})), wanted);
        assert_eq!(written(&BTreeMap::from([("row", 12)])), wanted);
        assert_eq!(written(&HashMap::from([("row", 12)])), wanted);
        let mixed = Some(r#"{"a":1,"b":"x"}"#.to_owned());
        assert_eq!(written(&(("a", 1), ("b", "x"))), mixed);
        let values = [("a", Value::from(1)), ("b", Value::from("x"))];
        assert_eq!(written(&values), mixed);
        assert_eq!(written(&()), None);
    }

    #[test]
    fn what_is_no_object_is_explained() {
        let list = problem(&[1, 2]);
        assert!(list.contains("its entry 0 is not a pair"), "{list}");
        let late = problem(&json!([["a", 1], "b"]));
        assert!(late.contains("its entry 1 is not a pair"), "{late}");
        let single = problem(&("name", "Ada"));
        assert!(single.contains("a single pair needs brackets"), "{single}");
        let plain = problem(&json!("row"));
        assert!(plain.contains("this is a single value"), "{plain}");
        let twice = problem(&[("row", 1), ("row", 2)]);
        assert!(twice.contains("`row` is given twice"), "{twice}");
    }

    #[test]
    fn the_only_argument_is_named_and_several_are_told() {
        let tool = |schema: Value| -> Tool {
            let tool = json!({ "name": "t", "inputSchema": schema });
            serde_json::from_value(tool).unwrap()
        };
        let two = json!({ "a": {}, "b": {} });
        for (schema, expected) in [
            (
                json!({ "type": "object", "properties": { "a": {} } }),
                Ok(r#"{"a":7}"#),
            ),
            (
                json!({ "type": "object", "properties": two, "required": ["b"] }),
                Ok(r#"{"b":7}"#),
            ),
            (json!({ "type": "object", "properties": two }), Err("a, b")),
            (json!({ "type": "object" }), Err("no arguments")),
        ] {
            let arguments = Arguments::of(&7).unwrap();
            match (arguments.for_tool(&tool(schema)), expected) {
                (Ok(object), Ok(expected)) => assert_eq!(object.unwrap().get(), expected),
                (Err(problem), Err(part)) => {
                    assert!(problem.to_string().contains(part), "{problem}");
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn only_texts_numbers_and_booleans_are_plain() {
        for value in [json!("a"), json!(-1), json!(2.5), json!(true), json!(false)] {
            let arguments = Arguments::of(&value).unwrap();
            assert!(matches!(arguments, Arguments::Plain(_)), "{value}");
        }
        assert!(matches!(Arguments::of(&Value::Null), Ok(Arguments::Absent)));
        assert!(matches!(
            Arguments::of(&json!({})),
            Ok(Arguments::Object(_))
        ));
    }
}
