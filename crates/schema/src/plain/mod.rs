//! Schemas of Rust types, simplified for models and clients: no `$schema`, no names of Rust
//! structs, no integer widths, no references unless a type is recursive, and `Option` fields are simply
//! optional.

mod order;
mod recursive;
mod root;
mod strip;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};
use thiserror::Error;

use strip::Contract;

/// A type that cannot be used for the arguments of a tool.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgumentsError {
    /// Arguments are always a JSON object, and this type is not deserialized from one.
    #[error(
        "`{type_name}` cannot be used as arguments: its schema expects {found}, but arguments are \
         always an object; use a struct with named fields"
    )]
    NotAnObject {
        /// The type, by its Rust name.
        type_name: &'static str,
        /// The type that its schema accepts.
        found: String,
    },
}

/// Returns the input schema of a tool whose arguments are deserialized into `T`.
///
/// - Properties are in the order of the fields, described by their doc comments.
/// - A field that may be absent is not in `required`, and its schema does not mention `null`: an
///   `Option<String>` is `{ "type": "string" }`. If a model sends `null` anyway,
///   [`Schema::coerce`](crate::Schema::coerce) removes it.
/// - Types are written where they are used; only a recursive type is a `$ref` into `$defs`.
/// - The bounds of small integers stay (`u8`: 0 to 255), as does `minimum: 0` for unsigned ones.
/// - The root always has `"type": "object"`.
///
/// ```
/// use schemars::JsonSchema;
/// use serde_json::json;
///
/// #[derive(JsonSchema)]
/// struct Search {
///     /// What to look for.
///     query: String,
///     limit: Option<u8>,
/// }
///
/// assert_eq!(
///     serde_json::Value::from(turnbuckle_schema::arguments_schema::<Search>()?),
///     json!({
///         "type": "object",
///         "properties": {
///             "query": { "description": "What to look for.", "type": "string" },
///             "limit": { "type": "integer", "minimum": 0, "maximum": 255 }
///         },
///         "required": ["query"]
///     })
/// );
/// # Ok::<(), turnbuckle_schema::ArgumentsError>(())
/// ```
///
/// # Errors
/// If `T` is not deserialized from a JSON object.
pub fn arguments_schema<T: JsonSchema + ?Sized>() -> Result<Map<String, Value>, ArgumentsError> {
    let settings = SchemaSettings::draft2020_12().for_deserialize();
    let schema = generated::<T>(settings, Contract::Read);
    root::object(schema).map_err(|found| ArgumentsError::NotAnObject {
        type_name: std::any::type_name::<T>(),
        found,
    })
}

/// Returns the output schema of a tool that returns `T`: it describes every value that `T` can be serialized to.
///
/// It is as plain as [`arguments_schema`], except that it mentions `null` wherever `null` is allowed,
/// because `null` is not removed from results.
pub fn output_schema<T: JsonSchema + ?Sized>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    match generated::<T>(settings, Contract::Written) {
        // Some clients only accept objects as schemas.
        Value::Bool(true) => Value::Object(Map::new()),
        schema => schema,
    }
}

fn generated<T: JsonSchema + ?Sized>(settings: SchemaSettings, contract: Contract) -> Value {
    let settings = settings.with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let generated = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = generated.to_value();
    order::order(&mut schema);
    // The root's title is the name of the Rust type, unless the author sets a title.
    if let Some(keywords) = schema.as_object_mut()
        && keywords.get("title").and_then(Value::as_str) == Some(&*T::schema_name())
    {
        keywords.shift_remove("title");
    }
    strip::strip(&mut schema, contract);
    recursive::fold(&mut schema);
    schema
}
