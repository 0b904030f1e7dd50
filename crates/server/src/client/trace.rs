//! The trace context of requests to the client.

use serde::Serialize;
use serde_json::Value;
use turnbuckle_telemetry::current;

/// Adds the current trace to the params of a request to the client; `None` if there is no current
/// trace.
pub(crate) fn with_trace<P: Serialize>(params: &P) -> Option<Value> {
    let context = current()?;
    let mut params = serde_json::to_value(params).ok()?;
    if params.is_null() {
        params = Value::Object(serde_json::Map::new());
    }
    let meta = params
        .as_object_mut()?
        .entry("_meta")
        .or_insert_with(|| Value::Object(serde_json::Map::new()));
    for (key, value) in context.entries() {
        meta.as_object_mut()?.insert(key.to_owned(), value.into());
    }
    Some(params)
}
