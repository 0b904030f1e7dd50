//! Plain schemas from Rust types, as clients and models like them best.
//!
//! schemars describes a type exactly; what it says is then made plain: no `$schema`, no `int32`
//! formats, no title that repeats the name of a Rust type, no `$ref` where the definition can stand
//! in its place, no `null` where leaving the property out means the same.

mod inline;
mod simplify;
mod suffices;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

pub use suffices::serde_suffices;

/// A type that cannot describe arguments.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("arguments are an object, and `{0}` is not: use a struct with named fields")]
pub struct NotAnObject(pub String);

/// The input schema of a tool whose arguments are a `T`.
///
/// # Errors
/// If `T` is not an object.
pub fn arguments_schema<T: JsonSchema>() -> Result<Map<String, Value>, NotAnObject> {
    match plain::<T>(SchemaSettings::draft2020_12()) {
        Value::Object(schema) if schema.get("type") == Some(&Value::from("object")) => {
            let mut schema = schema;
            // Some clients and model providers insist on it.
            schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
            Ok(schema)
        }
        _ => Err(NotAnObject(T::schema_name().into_owned())),
    }
}

/// The output schema of a tool that returns a `T`.
pub fn output_schema<T: JsonSchema>() -> Value {
    plain::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn plain<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = inline::inlined(schema.to_value());
    simplify::simplify(&mut schema);
    schema
}
