//! Compares tools, prompts, resources and templates: which were added or removed, and how the
//! others changed.

use serde_json::{Map, Value};

use super::{
    Effect, Snapshot,
    change::{Changes, Of},
    schema::{self, Position},
    snapshot::Named,
};

use Effect::{Breaking, Compatible, Wording};

/// Compares the server itself: revisions, capabilities, and its description of itself.
pub(super) fn server(old: &Snapshot, new: &Snapshot, changes: &mut Changes) {
    let mut of = Of {
        changes,
        kind: "server",
        name: "",
    };
    if let (Some(old), Some(new)) = (&old.revisions, &new.revisions) {
        for gone in old.iter().filter(|revision| !new.contains(revision)) {
            of.say(
                Breaking,
                "revision",
                format!("{gone} is no longer supported"),
            );
        }
        for added in new.iter().filter(|revision| !old.contains(revision)) {
            of.say(Compatible, "revision", format!("{added} is now supported"));
        }
    }
    if let (Some(old), Some(new)) = (&old.capabilities, &new.capabilities) {
        capabilities(old, new, "capabilities", &mut of);
    }
    for member in ["name", "title", "version", "description"] {
        wording(&old.server, &new.server, member, &mut of);
    }
    if old.instructions != new.instructions {
        of.say(Wording, "instructions", "the instructions changed");
    }
}

/// Compares capabilities. Removing one breaks callers; adding one does not.
fn capabilities(old: &Named, new: &Named, path: &str, of: &mut Of<'_>) {
    for (name, was) in old {
        let path = format!("{path}.{name}");
        match (was, new.get(name)) {
            (Value::Object(was), Some(Value::Object(is))) => capabilities(was, is, &path, of),
            (Value::Bool(false), None) => {}
            (_, None) => of.say(Breaking, &path, "it is no longer offered"),
            (Value::Bool(true), Some(Value::Bool(false))) => {
                of.say(Breaking, &path, "it is no longer offered");
            }
            (was, Some(is)) if was != is => of.say(Compatible, &path, became(was, is)),
            _ => {}
        }
    }
    for (name, is) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
        if *is != Value::Bool(false) {
            of.say(Compatible, &format!("{path}.{name}"), "it is now offered");
        }
    }
}

pub(super) fn tools(old: &Snapshot, new: &Snapshot, changes: &mut Changes) {
    each(
        "tool",
        old.tools.as_ref(),
        new.tools.as_ref(),
        changes,
        tool,
    );
}

/// Compares the two definitions of a tool.
pub(super) fn tool(was: &Value, is: &Value, of: &mut Of<'_>) {
    for member in ["title", "description", "icons"] {
        wording(was, is, member, of);
    }
    let position = Position::Input;
    schema::compare(position, &was["inputSchema"], &is["inputSchema"], of);
    match (was.get("outputSchema"), is.get("outputSchema")) {
        (Some(was), Some(is)) => schema::compare(Position::Output, was, is, of),
        (Some(_), None) => of.say(Breaking, "output", "the output schema was removed"),
        (None, Some(_)) => of.say(Compatible, "output", "an output schema was added"),
        (None, None) => {}
    }
    hints(&was["annotations"], &is["annotations"], of);
    task(was, is, of);
}

/// Compares the hints that hosts base decisions on. A hint that promises less than before is a
/// breaking change. A missing hint has the default of the specification.
fn hints(was: &Value, is: &Value, of: &mut Of<'_>) {
    for (hint, unsaid, is_promise) in [
        ("readOnlyHint", false, true),
        ("destructiveHint", true, false),
        ("idempotentHint", false, true),
        ("openWorldHint", true, false),
    ] {
        let said = |hints: &Value| hints[hint].as_bool().unwrap_or(unsaid);
        let (was, is) = (said(was), said(is));
        if was != is {
            let effect = if is == is_promise {
                Compatible
            } else {
                Breaking
            };
            let path = format!("annotations.{hint}");
            of.say(effect, &path, format!("from {was} to {is}"));
        }
    }
}

/// Compares whether calls may, must or must not be tasks.
fn task(was: &Value, is: &Value, of: &mut Of<'_>) {
    let said = |tool: &Value| {
        let said = tool["execution"]["taskSupport"].as_str();
        said.unwrap_or("forbidden").to_owned()
    };
    let (was, is) = (said(was), said(is));
    if was != is {
        let effect = if is == "optional" {
            Compatible
        } else {
            Breaking
        };
        of.say(
            effect,
            "execution.taskSupport",
            format!("from {was} to {is}"),
        );
    }
}

pub(super) fn prompts(old: &Snapshot, new: &Snapshot, changes: &mut Changes) {
    each(
        "prompt",
        old.prompts.as_ref(),
        new.prompts.as_ref(),
        changes,
        prompt,
    );
}

/// Compares the two definitions of a prompt.
pub(super) fn prompt(was: &Value, is: &Value, of: &mut Of<'_>) {
    for member in ["title", "description", "icons"] {
        wording(was, is, member, of);
    }
    let (was, is) = (arguments(was), arguments(is));
    let needed = |argument: &Value| argument["required"] == true;
    for (name, was) in &was {
        match is.get(name) {
            None => of.say(Breaking, name, "the argument was removed"),
            Some(is) => {
                match (needed(was), needed(is)) {
                    (false, true) => of.say(Breaking, name, "it is now required"),
                    (true, false) => of.say(Compatible, name, "it is now optional"),
                    _ => {}
                }
                if was["description"] != is["description"] {
                    of.say(Wording, name, "its description changed");
                }
            }
        }
    }
    for (name, is) in is.iter().filter(|(name, _)| !was.contains_key(*name)) {
        if needed(is) {
            of.say(Breaking, name, "there is a new argument, which is required");
        } else {
            of.say(Compatible, name, "there is a new argument");
        }
    }
}

fn arguments(prompt: &Value) -> Map<String, Value> {
    let list = prompt["arguments"].as_array().into_iter().flatten();
    list.filter_map(|argument| Some((argument["name"].as_str()?.to_owned(), argument.clone())))
        .collect()
}

pub(super) fn resources(old: &Snapshot, new: &Snapshot, changes: &mut Changes) {
    each(
        "resource",
        old.resources.as_ref(),
        new.resources.as_ref(),
        changes,
        content,
    );
}

pub(super) fn templates(old: &Snapshot, new: &Snapshot, changes: &mut Changes) {
    each(
        "template",
        old.templates.as_ref(),
        new.templates.as_ref(),
        changes,
        content,
    );
}

/// Compares the two definitions of a resource or a template with the same URI.
fn content(was: &Value, is: &Value, of: &mut Of<'_>) {
    if was["mimeType"] != is["mimeType"] {
        let effect = if was["mimeType"].is_null() {
            Compatible
        } else {
            Breaking
        };
        of.say(
            effect,
            "mimeType",
            became(&was["mimeType"], &is["mimeType"]),
        );
    }
    for member in ["name", "title", "description", "icons", "annotations"] {
        wording(was, is, member, of);
    }
}

/// Compares two lists: finds removed and added entries, and compares the others. If one side does
/// not know the list, nothing is compared.
fn each(
    kind: &'static str,
    old: Option<&Named>,
    new: Option<&Named>,
    changes: &mut Changes,
    compare: impl Fn(&Value, &Value, &mut Of<'_>),
) {
    let (Some(old), Some(new)) = (old, new) else {
        return;
    };
    for (name, was) in old {
        let mut of = Of {
            changes: &mut *changes,
            kind,
            name,
        };
        match new.get(name) {
            Some(is) => compare(was, is, &mut of),
            None => of.say(Breaking, "", "removed"),
        }
    }
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        let mut of = Of {
            changes: &mut *changes,
            kind,
            name,
        };
        of.say(Compatible, "", "added");
    }
}

fn wording(was: &Value, is: &Value, member: &str, of: &mut Of<'_>) {
    let (was, is) = (&was[member], &is[member]);
    if was == is {
        return;
    }
    // Short texts are quoted. For a long text the change says only that it changed.
    let is_short = |value: &Value| value.as_str().is_none_or(|text| text.len() <= MAX_SHOWN);
    if is_short(was) && is_short(is) && !was.is_object() && !was.is_array() {
        of.say(Wording, member, became(was, is));
    } else {
        of.say(Wording, member, "it changed");
    }
}

/// Texts up to this many bytes are quoted in a change.
const MAX_SHOWN: usize = 60;

/// Formats `from a to b`, with `nothing` for a missing value.
pub(super) fn became(was: &Value, is: &Value) -> String {
    let shown = |value: &Value| match value {
        Value::Null => "nothing".to_owned(),
        other => other.to_string(),
    };
    format!("from {} to {}", shown(was), shown(is))
}
