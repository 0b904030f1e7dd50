//! One tool, whole: what it does, what it takes, what it gives, and a call that works.

use serde_json::Value;
use turnbuckle::{
    protocol::{Named as _, Tool},
    schema::example,
};
use turnbuckle_command_line::{shell, style::Style, target::Server};

use super::table::Table;
use crate::signature::kind;

/// How deep properties are followed into objects and lists.
const MAX_DEPTH: usize = 4;

/// How many properties are shown of one schema; `--json` has all.
const MAX_PROPERTIES: usize = 200;

/// The lines about a tool.
pub(crate) fn tool(server: &Server, tool: &Tool) -> Vec<String> {
    let name = Style::Strong.out(&tool.name);
    let mut lines = vec![match tool.display_name() {
        shown if shown == tool.name => name,
        shown => format!("{name} · {shown}"),
    }];
    let hints = hints(tool);
    if !hints.is_empty() {
        lines.push(Style::Warn.out(&hints.join(", ")));
    }
    if let Some(text) = tool.description.as_deref().filter(|text| !text.is_empty()) {
        lines.push(String::new());
        lines.extend(text.trim_end().lines().map(str::to_owned));
    }
    let input = Value::Object(tool.input_schema.clone());
    section(&mut lines, "Arguments", &input, "none");
    if let Some(output) = &tool.output_schema {
        section(&mut lines, "Result", output, &kind(output, output, 0));
    }
    lines.push(String::new());
    lines.push(Style::Strong.out("Example"));
    let words = example_words(&input);
    let words = std::iter::once(shell::quote(&tool.name)).chain(words);
    let words: Vec<_> = words.collect();
    lines.push(format!("  {}", server.line("call", &words.join(" "))));
    lines
}

/// What the tool says of itself. What it does not say is not guessed.
fn hints(tool: &Tool) -> Vec<&'static str> {
    let Some(annotations) = &tool.annotations else {
        return Vec::new();
    };
    let said = [
        (annotations.read_only_hint, "only reads", "changes things"),
        (
            annotations.destructive_hint,
            "may destroy",
            "destroys nothing",
        ),
        (
            annotations.idempotent_hint,
            "may be repeated",
            "not to be repeated",
        ),
        (
            annotations.open_world_hint,
            "reaches outside",
            "stays inside",
        ),
    ];
    let words = |(hint, yes, no): (Option<bool>, _, _)| hint.map(|is| if is { yes } else { no });
    said.into_iter().filter_map(words).collect()
}

fn section(lines: &mut Vec<String>, name: &str, schema: &Value, otherwise: &str) {
    lines.push(String::new());
    lines.push(Style::Strong.out(name));
    let mut table = Table::default();
    let mut left = MAX_PROPERTIES;
    properties(&mut table, schema, schema, 0, &mut left);
    let rows = table.lines();
    if rows.is_empty() {
        lines.push(format!("  {otherwise}"));
    }
    lines.extend(rows);
}

/// A row for each property, with those of objects below them.
fn properties(table: &mut Table, root: &Value, schema: &Value, depth: usize, left: &mut usize) {
    let schema = resolved(root, schema);
    let Some(Value::Object(all)) = schema.get("properties") else {
        // A list of objects.
        if let Some(items) = schema.get("items").filter(|_| depth < MAX_DEPTH) {
            properties(table, root, items, depth, left);
        }
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    for (name, part) in all {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let part = resolved(root, part);
        let mark = if is_required(name) { "" } else { "?" };
        let mut about = vec![kind(root, part, 0)];
        about.extend(limits(part));
        if let Some(text) = part.get("description").and_then(Value::as_str) {
            about.push(text.lines().next().unwrap_or_default().trim().to_owned());
        }
        table.row(vec![
            (
                format!("{}{name}{mark}", "  ".repeat(depth)),
                Some(Style::Strong),
            ),
            (about.join(" · "), None),
        ]);
        if depth + 1 < MAX_DEPTH {
            properties(table, root, part, depth + 1, left);
        }
    }
}

/// What a value has to keep to.
fn limits(part: &Value) -> Vec<String> {
    const WORDS: [(&str, &str); 12] = [
        ("default", "default"),
        ("minimum", "at least"),
        ("exclusiveMinimum", "more than"),
        ("maximum", "at most"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "a multiple of"),
        ("minLength", "length at least"),
        ("maxLength", "length at most"),
        ("minItems", "items at least"),
        ("maxItems", "items at most"),
        ("format", "format"),
        ("pattern", "pattern"),
    ];
    let said = |(keyword, words): (&str, &str)| {
        let value = part.get(keyword)?;
        let value = match value {
            Value::String(text) if keyword != "default" => text.clone(),
            other => other.to_string(),
        };
        Some(format!("{words} {value}"))
    };
    WORDS.into_iter().filter_map(said).collect()
}

fn resolved<'s>(root: &'s Value, part: &'s Value) -> &'s Value {
    let mut part = part;
    for _ in 0..MAX_DEPTH {
        let reference = part.get("$ref").and_then(Value::as_str);
        let pointer = reference.and_then(|text| text.strip_prefix('#'));
        match pointer.and_then(|pointer| root.pointer(pointer)) {
            Some(target) => part = target,
            None => break,
        }
    }
    part
}

/// Arguments that fit, as words of a command line.
fn example_words(schema: &Value) -> Vec<String> {
    let Some(Value::Object(values)) = example(schema) else {
        return Vec::new();
    };
    let words = values.iter().map(|(name, value)| {
        let is_plain = |text: &str| !text.is_empty() && !text.starts_with('@');
        let word = match value {
            Value::String(text) if is_plain(text) && !name.contains(['.', ':', '+', '=']) => {
                format!("{name}={text}")
            }
            other => format!("{name}:={other}"),
        };
        shell::quote(&word)
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn limits_and_nesting_are_told() {
        let schema = json!({
            "type": "object",
            "required": ["city"],
            "properties": {
                "city": {"type": "string", "minLength": 2, "description": "Where.\nMore."},
                "options": {"$ref": "#/$defs/options"},
            },
            "$defs": {"options": {"type": "object", "properties": {
                "days": {"type": "integer", "minimum": 1, "maximum": 7, "default": 3},
            }}},
        });
        let mut lines = Vec::new();
        section(&mut lines, "Arguments", &schema, "none");
        let text = lines.join("\n");
        for wanted in [
            "city      string · length at least 2 · Where.",
            "options?  object",
            "  days?   integer · default 3 · at least 1 · at most 7",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
    }

    #[test]
    fn an_example_is_made_of_words_that_are_read_back() {
        let schema = json!({"type": "object", "required": ["n", "who"],
            "properties": {"n": {"type": "integer", "minimum": 4}, "who": {"enum": ["you"]}}});
        assert_eq!(example_words(&schema), ["n:=4", "who=you"]);
    }
}
