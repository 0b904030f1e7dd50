//! Checks that entries have the required members, with the right types.

use serde_json::Value;
use turnbuckle::protocol::method::ListKind;

use super::place;
use crate::{finding::Finding, report::Report, table::lists};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Type {
    Text,
    Object,
    List,
    Number,
    Flag,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    Required,
    Optional,
}

type Member = (&'static str, Type, Need);

use Need::{Optional, Required};
use Type::{Flag, List, Number, Object, Text};

const TOOL: &[Member] = &[
    ("name", Text, Required),
    ("inputSchema", Object, Required),
    ("title", Text, Optional),
    ("description", Text, Optional),
    ("outputSchema", Object, Optional),
    ("annotations", Object, Optional),
    ("icons", List, Optional),
    ("execution", Object, Optional),
    ("_meta", Object, Optional),
];

const ANNOTATIONS: &[Member] = &[
    ("title", Text, Optional),
    ("readOnlyHint", Flag, Optional),
    ("destructiveHint", Flag, Optional),
    ("idempotentHint", Flag, Optional),
    ("openWorldHint", Flag, Optional),
];

const PROMPT: &[Member] = &[
    ("name", Text, Required),
    ("title", Text, Optional),
    ("description", Text, Optional),
    ("arguments", List, Optional),
    ("icons", List, Optional),
    ("_meta", Object, Optional),
];

const ARGUMENT: &[Member] = &[
    ("name", Text, Required),
    ("title", Text, Optional),
    ("description", Text, Optional),
    ("required", Flag, Optional),
];

const RESOURCE: &[Member] = &[
    ("uri", Text, Required),
    ("name", Text, Required),
    ("title", Text, Optional),
    ("description", Text, Optional),
    ("mimeType", Text, Optional),
    ("size", Number, Optional),
    ("annotations", Object, Optional),
    ("icons", List, Optional),
    ("_meta", Object, Optional),
];

const TEMPLATE: &[Member] = &[
    ("uriTemplate", Text, Required),
    ("name", Text, Required),
    ("title", Text, Optional),
    ("description", Text, Optional),
    ("mimeType", Text, Optional),
    ("annotations", Object, Optional),
    ("icons", List, Optional),
    ("_meta", Object, Optional),
];

pub(super) fn look(report: &Report, kind: ListKind, entries: &[Value]) {
    let members = match kind {
        ListKind::Tools => TOOL,
        ListKind::Prompts => PROMPT,
        ListKind::Resources => RESOURCE,
        _ => TEMPLATE,
    };
    for (index, entry) in entries.iter().enumerate() {
        let place = place(kind, entry, index);
        look_at(report, entry, members, &place);
        if kind == ListKind::Tools && entry["annotations"].is_object() {
            let place = format!("{place} /annotations");
            look_at(report, &entry["annotations"], ANNOTATIONS, &place);
        }
        let arguments = entry["arguments"].as_array().into_iter().flatten();
        for (index, argument) in arguments.enumerate() {
            let place = format!("{place} /arguments/{index}");
            look_at(report, argument, ARGUMENT, &place);
        }
    }
}

fn look_at(report: &Report, entry: &Value, members: &[Member], place: &str) {
    if !entry.is_object() {
        report.add(Finding::of(&lists::SHAPE, "an entry is not an object").at(place));
        return;
    }
    for (name, kind, need) in members {
        let found = match entry.get(name) {
            None if *need == Required => {
                Finding::of(&lists::SHAPE, format!("an entry has no `{name}`"))
            }
            None => continue,
            Some(Value::Null) if *need == Optional => {
                Finding::of(&lists::NULL, format!("`{name}` is null"))
            }
            Some(value) if is(value, *kind) => continue,
            Some(value) => {
                let said = format!("`{name}` is {}", told(value));
                Finding::of(&lists::SHAPE, said).seen(format!("← {entry}"))
            }
        };
        report.add(found.at(place));
    }
}

fn is(value: &Value, kind: Type) -> bool {
    match kind {
        Type::Text => value.is_string(),
        Type::Object => value.is_object(),
        Type::List => value.is_array(),
        Type::Number => value.is_number(),
        Type::Flag => value.is_boolean(),
    }
}

fn told(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
