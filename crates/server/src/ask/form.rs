//! Forms from Rust types: the few kinds of field that a client can show.

use schemars::JsonSchema;
use serde_json::{Map, Value};
use turnbuckle_protocol::ElicitSchema;

use super::AskFailed;

/// The form of a type.
pub(super) fn schema_of<T: JsonSchema>() -> Result<ElicitSchema, AskFailed> {
    let type_name = std::any::type_name::<T>();
    let refuse = |problem: String| AskFailed::NotAForm { type_name, problem };
    let mut schema =
        turnbuckle_schema::arguments_schema::<T>().map_err(|error| refuse(error.to_string()))?;
    if let Some(Value::Object(fields)) = schema.get_mut("properties") {
        for field in fields.values_mut().filter_map(Value::as_object_mut) {
            title_choices(field);
            field
                .get_mut("items")
                .and_then(Value::as_object_mut)
                .into_iter()
                .for_each(title_choices);
        }
    }
    serde_json::from_value(Value::Object(schema)).map_err(|error| refuse(error.to_string()))
}

/// Choices that are described in Rust are titled in a form.
fn title_choices(field: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = field.get_mut("oneOf") else {
        return;
    };
    for choice in choices.iter_mut().filter_map(Value::as_object_mut) {
        let title = choice
            .shift_remove("description")
            .or_else(|| choice.get("const").cloned());
        choice.shift_remove("type");
        if let Some(title) = title {
            choice.entry("title").or_insert(title);
        }
    }
    field.entry("type").or_insert_with(|| "string".into());
}
