//! Converts results of servers to the client's revision.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{json, value::RawValue};
use turnbuckle_protocol::{
    CallToolResult, GetPromptResult, Implementation, Lower, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, Revision, Tool,
    envelope::{Edit, Raw, RawText},
    method::ListKind,
};
use turnbuckle_server::Reject;

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Methods whose results state how long they may be cached.
const CACHEABLE: [&str; 5] = [
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// The type of a result; `complete` if it is not stated.
fn result_type(raw: &RawValue) -> String {
    let kind = Raw::from(raw).member("resultType");
    kind.and_then(super::text_of)
        .unwrap_or_else(|| "complete".to_owned())
}

/// Whether a modern server asks questions in this result.
pub(crate) fn is_input_required(raw: &RawValue) -> bool {
    is_of_type(raw, r#""input_required""#)
}

/// Whether the result of a modern server is a task.
pub(crate) fn is_task(raw: &RawValue) -> bool {
    is_of_type(raw, r#""task""#)
}

/// Whether a result has this type, given as JSON text.
fn is_of_type(raw: &RawValue, kind: &str) -> bool {
    // Searching for the text is several times as fast as reading the members.
    memchr::memmem::find(raw.get().as_bytes(), kind.as_bytes()).is_some()
        && Raw::from(raw)
            .member("resultType")
            .is_some_and(|found| found.get() == kind)
}

/// Converts a complete result from one revision to another.
pub(crate) fn result(
    method: &str,
    raw: &RawValue,
    from: Revision,
    to: Revision,
    server: Option<&Implementation>,
) -> Result<Vec<u8>, Reject> {
    if from == to {
        return Ok(raw.get().as_bytes().to_vec());
    }
    let lowered = lower(method, raw, from, to);
    let text = lowered.as_deref().unwrap_or(raw.get());
    let text: &RawValue = serde_json::from_str(text).unwrap_or(raw);
    let info;
    let mut edit = Edit::new(Raw::from(text));
    // Some libraries write missing values as `null`, or an empty object as a list.
    let has_odd_meta = Raw::from(text)
        .member("_meta")
        .is_some_and(|meta| !meta.is_object());
    match (from.is_modern(), to.is_modern()) {
        (false, true) => {
            edit = edit.set(&["resultType"], r#""complete""#);
            if CACHEABLE.contains(&method) {
                edit = edit
                    .set(&["ttlMs"], "0")
                    .set(&["cacheScope"], r#""private""#);
            }
            if let Some(server) = server {
                info = json!(server).to_string();
                edit = if has_odd_meta {
                    edit.set(&["_meta"], format!(r#"{{"{SERVER_INFO}":{info}}}"#))
                } else {
                    edit.set(&["_meta", SERVER_INFO], info)
                };
            }
        }
        (true, false) => {
            let kind = result_type(raw);
            if kind != "complete" {
                return Err(Reject::internal(format!(
                    "the server answered with a result of type `{kind}`, which revision {to} does not have"
                )));
            }
            edit = edit
                .drop(&["resultType"])
                .drop(&["ttlMs"])
                .drop(&["cacheScope"]);
            if !has_odd_meta {
                edit = edit.drop(&["_meta", SERVER_INFO]);
            }
        }
        _ => {}
    }
    let edited = edit
        .finish()
        .map_err(|_| Reject::internal("the server answered with a result that is not an object"))?;
    Ok(edited.raw().get().as_bytes().to_vec())
}

/// Removes the parts of the result that the client's revision cannot express (G32). Returns `None`
/// if it can express all of it.
fn lower(method: &str, raw: &RawValue, from: Revision, to: Revision) -> Option<String> {
    if to.is_modern() {
        // tasks: the modern list no longer states how a tool may be run.
        return (method == "tools/list").then(|| {
            map_entries(raw, "tools", |entry| {
                let edit = Edit::new(entry).drop(&["execution"]).finish();
                edit.ok().map(|text| text.raw().get().to_owned())
            })
        })?;
    }
    if to > from {
        return None;
    }
    match method {
        "tools/call" => {
            let is_plain = Raw::from(raw)
                .member("structuredContent")
                .is_none_or(Raw::is_object);
            if is_plain && to.rules().task_fields {
                return None;
            }
            lowered::<CallToolResult>(raw, to)
        }
        "prompts/get" => lowered::<GetPromptResult>(raw, to),
        "resources/read" => lowered::<ReadResourceResult>(raw, to),
        _ => {
            let member = ListKind::of(method)?.member();
            map_entries(raw, member, |entry| lower_entry(method, entry, to))
        }
    }
}

/// Converts an entry of a list to a revision. Returns `None` if it needs no change.
pub(crate) fn lower_entry(method: &str, entry: Raw<'_>, to: Revision) -> Option<String> {
    let raw = entry.value();
    match method {
        "tools/list" => lowered::<Tool>(raw, to),
        "prompts/list" => lowered::<Prompt>(raw, to),
        "resources/list" => lowered::<Resource>(raw, to),
        _ => lowered::<ResourceTemplate>(raw, to),
    }
}

/// Marks a tool of a modern server as able to run as a task, in the form of 2025-11-25 (G31).
pub(crate) fn with_task_support(tool: &str) -> Option<String> {
    let raw: &RawValue = serde_json::from_str(tool).ok()?;
    let edit = Edit::new(Raw::from(raw)).set(&["execution"], r#"{"taskSupport":"optional"}"#);
    Some(edit.finish().ok()?.raw().get().to_owned())
}

/// Marks all tools of a list in this way.
pub(crate) fn with_tasks_supported(list: Vec<u8>) -> Vec<u8> {
    let raw = serde_json::from_slice::<&RawValue>(&list).ok();
    let edited =
        raw.and_then(|raw| map_entries(raw, "tools", |tool| with_task_support(tool.get())));
    edited.map_or(list, String::into_bytes)
}

/// Changes entries of a list. Returns `None` if no entry is changed.
fn map_entries(
    raw: &RawValue,
    member: &str,
    change: impl Fn(Raw<'_>) -> Option<String>,
) -> Option<String> {
    let list = Raw::from(raw).member(member)?;
    let mut is_changed = false;
    let mut text = String::from("[");
    for (index, entry) in list.elements().into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        match change(entry).filter(|changed| changed != entry.get()) {
            Some(changed) => {
                is_changed = true;
                text.push_str(&changed);
            }
            None => text.push_str(entry.get()),
        }
    }
    text.push(']');
    if !is_changed {
        return None;
    }
    let edited: RawText = Edit::new(Raw::from(raw))
        .set(&[member], text)
        .finish()
        .ok()?;
    Some(edited.raw().get().to_owned())
}

/// Converts a value to a revision. Returns `None` if nothing changes, or if the value cannot be
/// parsed and is passed on unchanged.
fn lowered<T>(raw: &RawValue, to: Revision) -> Option<String>
where
    T: Serialize + DeserializeOwned + Lower,
{
    let mut value: T = serde_json::from_str(raw.get()).ok()?;
    let before = serde_json::to_value(&value).ok()?;
    value.lower(to);
    let after = serde_json::to_value(&value).ok()?;
    (before != after).then(|| after.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(method: &str, text: &str, from: Revision, to: Revision) -> String {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        String::from_utf8(result(method, &raw, from, to, None).unwrap()).unwrap()
    }

    const LEGACY: Revision = Revision::LATEST_LEGACY;
    const MODERN: Revision = Revision::LATEST;

    #[test]
    fn what_both_sides_know_stays_as_it_came() {
        let text = r#"{ "content":[ ],"x":1.50, "_meta":{"a":[ ]} }"#;
        assert_eq!(translated("tools/call", text, MODERN, MODERN), text);
        assert_eq!(
            translated("tools/call", text, LEGACY, MODERN),
            r#"{ "content":[ ],"x":1.50, "_meta":{"a":[ ]},"resultType":"complete" }"#
        );
        let modern = r#"{"resultType":"complete", "content":[ ],"x":1.50}"#;
        assert_eq!(
            translated("tools/call", modern, MODERN, LEGACY),
            r#"{"content":[ ],"x":1.50}"#
        );
    }

    #[test]
    fn lists_say_how_long_they_may_be_kept_and_lose_what_modern_clients_do_not_know() {
        let tool = r#"{"name":"a","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}}"#;
        assert_eq!(
            translated(
                "tools/list",
                &format!(r#"{{"tools":[{tool}]}}"#),
                LEGACY,
                MODERN
            ),
            r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}"#
        );
    }

    #[test]
    fn a_meta_that_is_not_an_object_loses_nothing() {
        let server = Implementation::new("odd", "1");
        for meta in ["null", "[]", "7"] {
            let text = format!(r#"{{"content":[],"_meta":{meta}}}"#);
            let raw = RawValue::from_string(text).unwrap();
            let read = result("tools/call", &raw, LEGACY, MODERN, Some(&server)).unwrap();
            let read: serde_json::Value = serde_json::from_slice(&read).unwrap();
            assert_eq!(read["content"], json!([]), "{meta}");
            assert_eq!(read["_meta"][SERVER_INFO]["name"], "odd", "{meta}");
            let text = format!(r#"{{"resultType":"complete","content":[],"_meta":{meta}}}"#);
            let legacy = translated("tools/call", &text, MODERN, LEGACY);
            assert_eq!(legacy, format!(r#"{{"content":[],"_meta":{meta}}}"#));
        }
    }

    #[test]
    fn what_an_older_client_cannot_read_is_rewritten() {
        let oldest = Revision::LEGACY[0];
        let text = r#"{"resultType":"complete","content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"}],"structuredContent":{"a":1}}"#;
        let lowered = translated("tools/call", text, MODERN, oldest);
        assert!(
            !lowered.contains("audio\",\"data") && !lowered.contains("structuredContent"),
            "{lowered}"
        );
        let raw = RawValue::from_string(r#"{"resultType":"later"}"#.to_owned()).unwrap();
        assert!(result("tools/call", &raw, MODERN, LEGACY, None).is_err());
    }
}
