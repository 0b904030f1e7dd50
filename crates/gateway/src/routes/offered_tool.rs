//! A tool in the form in which the gateway offers it: with another name, and without the arguments
//! that the gateway sets.

use turnbuckle_protocol::{
    JsonObject,
    envelope::{Edit, Raw, RawText},
    http::ParamHeaders,
};

/// A tool or prompt with another name, and without the arguments that the gateway sets. Returns
/// `None` if the text is malformed.
pub(super) fn edited(raw: Raw<'_>, name: Option<&str>, fixed: &JsonObject) -> Option<RawText> {
    let mut edit = Edit::new(raw);
    if let Some(name) = name {
        edit = edit.set_text(&["name"], name);
    }
    let required;
    if !fixed.is_empty() {
        for argument in fixed.keys() {
            edit = edit.drop(&["inputSchema", "properties", argument.as_str()]);
        }
        if let Some(listed) = raw.at(&["inputSchema", "required"]) {
            let left: Vec<String> = listed
                .elements()
                .into_iter()
                .filter_map(|raw| raw.parse().ok())
                .filter(|name: &String| !fixed.contains_key(name))
                .collect();
            required = serde_json::to_string(&left).ok()?;
            edit = edit.set(&["inputSchema", "required"], required);
        }
    }
    if edit.is_empty() {
        return Some(RawText::from(raw));
    }
    edit.finish().ok()
}

/// The arguments of a tool that clients repeat in headers.
pub(super) fn param_headers(tool: Raw<'_>) -> Option<ParamHeaders> {
    let schema = tool.member("inputSchema")?;
    if !schema.get().contains("x-mcp-header") {
        return None;
    }
    let schema: JsonObject = schema.parse().ok()?;
    ParamHeaders::of(&schema).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{json, value::RawValue};

    use super::*;

    #[test]
    fn a_tool_is_renamed_and_loses_the_arguments_that_are_set() {
        let text = r#"{"name":"log", "inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"q":{ }},"required":["n", "q"]},"x":1.50}"#;
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        let Some(fixed) = json!({ "n": 5, "other": 1 }).as_object().cloned() else {
            unreachable!("an object was written")
        };
        let edited = edited(Raw::from(raw), Some("git_log"), &fixed).unwrap();
        assert_eq!(
            edited.raw().get(),
            r#"{"name":"git_log", "inputSchema":{"type":"object","properties":{"q":{ }},"required":["q"]},"x":1.50}"#
        );
    }
}
