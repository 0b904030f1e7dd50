//! The settings of a capability: an object, which may be empty.

use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

use crate::JsonObject;

/// Reads the object. `true` is read as an empty object, `false` and `null` as a missing one.
///
/// The prose of 2025-11-25 calls some of these members booleans while its schema requires objects, so
/// implementations send both.
pub(super) fn lenient<'de, D>(deserializer: D) -> Result<Option<JsonObject>, D::Error>
where
    D: Deserializer<'de>,
{
    match Value::deserialize(deserializer)? {
        Value::Object(settings) => Ok(Some(settings)),
        Value::Bool(true) => Ok(Some(JsonObject::new())),
        Value::Bool(false) | Value::Null => Ok(None),
        other => Err(de::Error::custom(format_args!(
            "expected an object, got `{other}`"
        ))),
    }
}
