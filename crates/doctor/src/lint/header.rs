//! Arguments that are repeated in headers.

use serde_json::{Map, Value};
use turnbuckle::protocol::http::ParamHeaders;
use turnbuckle_command_line::secret::is_secret;

use super::{subschema, tool::Place};
use crate::{finding::Finding, table::schema};

pub(super) fn look(place: &Place<'_>, input: &Map<String, Value>) {
    if let Err(fault) = ParamHeaders::of(input) {
        let finding = Finding::of(&schema::HEADER, fault.to_string());
        place.found(finding, "/inputSchema");
    }
    let root = Value::Object(input.clone());
    subschema::walk(&root, &mut |sub| {
        let Some(header) = sub.schema["x-mcp-header"].as_str() else {
            return;
        };
        let property = sub.pointer.rsplit('/').next().unwrap_or_default();
        if is_secret(property) || is_secret(header) {
            let said =
                format!("an argument that sounds like a secret is sent as the header {header:?}");
            place.found(Finding::of(&schema::SECRET_HEADER, said), &sub.pointer);
        }
    });
}
