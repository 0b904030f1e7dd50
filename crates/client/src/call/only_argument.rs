//! A plain value as the argument of a tool that takes one.

use std::future::IntoFuture;

use serde::Serialize;
use serde_json::{Value, value::RawValue};
use turnbuckle_protocol::Tool;

use super::{List, builder::Subject};
use crate::{error::CallError, link::Link};

const METHOD: &str = "tools/call";

/// A text, a number or a boolean, as JSON; `None` for everything else.
pub(super) fn plain<T: Serialize + ?Sized>(value: &T) -> Option<Box<RawValue>> {
    let raw = serde_json::value::to_raw_value(value).ok()?;
    let is_plain = matches!(
        raw.get().as_bytes().first()?,
        b'"' | b'-' | b'0'..=b'9' | b't' | b'f'
    );
    is_plain.then_some(raw)
}

/// Names a plain value after the only argument that its tool takes. The tools are listed for that.
pub(super) async fn name(link: &Link, mut subject: Subject) -> Result<Subject, CallError> {
    let Some(value) = subject.plain.take() else {
        return Ok(subject);
    };
    let tools = List::<Tool>::new(link).into_future().await?;
    let tool = subject.text();
    let argument = match tools.iter().find(|listed| listed.name == tool) {
        Some(listed) => only_argument(listed),
        None => Err(format!("there is no tool `{tool}`")),
    };
    let argument = argument
        .map_err(|problem| CallError::unwritable(METHOD, serde::ser::Error::custom(problem)))?;
    let named = serde_json::json!({ argument: &*value });
    let arguments = serde_json::value::to_raw_value(&named);
    subject.arguments = Some(arguments.map_err(|source| CallError::unwritable(METHOD, source))?);
    Ok(subject)
}

/// The only argument that a tool takes, or the only one that it needs.
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
    use serde_json::json;

    use super::*;

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
                Ok("a"),
            ),
            (
                json!({ "type": "object", "properties": two, "required": ["b"] }),
                Ok("b"),
            ),
            (json!({ "type": "object", "properties": two }), Err("a, b")),
            (json!({ "type": "object" }), Err("no arguments")),
        ] {
            match (only_argument(&tool(schema)), expected) {
                (Ok(name), Ok(expected)) => assert_eq!(name, expected),
                (Err(problem), Err(part)) => assert!(problem.contains(part), "{problem}"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn only_texts_numbers_and_booleans_are_plain() {
        for plain_value in [json!("a"), json!(-1), json!(2.5), json!(true), json!(false)] {
            assert!(plain(&plain_value).is_some(), "{plain_value}");
        }
        for other in [json!({}), json!([1]), json!(null)] {
            assert!(plain(&other).is_none(), "{other}");
        }
    }
}
