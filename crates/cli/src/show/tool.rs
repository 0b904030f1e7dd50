//! One tool in full: its description, its arguments, its result, and an example call.

use serde_json::{Map, Value};
use turnbuckle::{
    protocol::{Named as _, Tool},
    schema::example,
};
use turnbuckle_command_line::{shell, style::Style, target::Server};

use super::{rows::wrapped, table::Table};
use crate::signature::{is_map, variant, whole_kind};

/// How deep properties are followed into objects and lists; a line says if there are deeper ones.
const MAX_DEPTH: usize = 8;

/// How many schemas are visited in all, and how many inside one another.
const MAX_LOOKS: usize = 2000;
const MAX_WITHIN: usize = 40;

/// How many properties of one schema are shown; `--json` shows all.
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
        lines.extend(text.trim_end().lines().flat_map(|line| wrapped(line, 0)));
    }
    let input = Value::Object(tool.input_schema.clone());
    section(&mut lines, "Arguments", &input, "none");
    if let Some(output) = &tool.output_schema {
        section(&mut lines, "Result", output, &whole_kind(output, output));
    }
    lines.push(String::new());
    lines.push(Style::Strong.out("Example"));
    lines.push(format!("  {}", example_line(server, &tool.name, &input)));
    lines
}

/// The hints that the tool declares. Undeclared hints are not guessed.
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
    let mut parts = Parts {
        root: schema,
        table: Table::default(),
        left: MAX_PROPERTIES,
        looks: MAX_LOOKS,
        around: Vec::new(),
    };
    parts.of(schema, 0, 0);
    let rows = parts.table.whole_lines();
    if rows.is_empty() {
        lines.push(format!("  {otherwise}"));
    }
    lines.extend(rows);
}

/// The rows of a schema: one for each property and each variant, with those of objects below them.
struct Parts<'s> {
    root: &'s Value,
    table: Table,
    /// How many more rows may be added.
    left: usize,
    /// How many more schemas may be visited.
    looks: usize,
    /// The schemas around the current one.
    around: Vec<&'s Value>,
}

impl<'s> Parts<'s> {
    /// Adds the rows below a schema. `within` counts the schemas around it.
    fn of(&mut self, schema: &'s Value, depth: usize, within: usize) {
        if self.looks == 0 || within > MAX_WITHIN {
            return;
        }
        self.looks -= 1;
        let schema = resolved(self.root, schema);
        // A schema that refers to itself is shown once.
        if self.is_around(schema) {
            return;
        }
        if depth >= MAX_DEPTH {
            if has_parts(schema) {
                let text = "nested too deeply to show; `--json` shows all of it";
                self.add(depth, "…", text.to_owned());
            }
            return;
        }
        self.around.push(schema);
        self.inside(schema, depth, within);
        self.around.pop();
    }

    /// Whether the current schema is inside this one.
    fn is_around(&self, schema: &Value) -> bool {
        self.around
            .iter()
            .any(|around| std::ptr::eq(*around, schema))
    }

    fn inside(&mut self, schema: &'s Value, depth: usize, within: usize) {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
        if let Some(Value::Object(all)) = schema.get("properties") {
            for (name, part) in all {
                let mark = if is_required(name) { "" } else { "?" };
                self.part((depth, within), &format!("{name}{mark}"), part);
            }
        }
        for part in list(schema, "allOf") {
            self.of(part, depth, within + 1);
        }
        // A list of objects: shows the properties of the objects.
        if let Some(items) = schema.get("items") {
            self.of(items, depth, within + 1);
        }
        for (position, part) in list(schema, "prefixItems").enumerate() {
            self.part((depth, within), &format!("[{position}]"), part);
        }
        if is_map(schema) {
            self.part(
                (depth, within),
                "(any name)",
                &schema["additionalProperties"],
            );
        }
        let variants = list(schema, "anyOf").chain(list(schema, "oneOf"));
        // The row above has already named the variants.
        let has_more = |part: &Value| has_parts(part) || !limits(part).is_empty();
        if variants
            .clone()
            .any(|part| has_more(resolved(self.root, part)))
        {
            for (number, part) in variants.enumerate() {
                let word = if number == 0 { "either" } else { "or" };
                let kind = variant(self.root, part, 0);
                self.part_of_kind((depth, within), word, kind, part);
            }
        }
    }

    /// Adds a row for one part, and the rows below it.
    fn part(&mut self, place: (usize, usize), name: &str, part: &'s Value) {
        let kind = whole_kind(self.root, resolved(self.root, part));
        self.part_of_kind(place, name, kind, part);
    }

    fn part_of_kind(
        &mut self,
        (depth, within): (usize, usize),
        name: &str,
        kind: String,
        part: &'s Value,
    ) {
        let shown = resolved(self.root, part);
        let mut about = vec![kind];
        // The items of a list may have the schema around the list, too.
        let held = shown.get("items").map(|items| resolved(self.root, items));
        if self.is_around(shown) || held.is_some_and(|held| self.is_around(held)) {
            about.push("as above".to_owned());
        }
        about.extend(limits(shown));
        let said = |part: &Value, member| part.get(member).and_then(Value::as_str).map(joined);
        // A description beside a reference is meant for this place.
        let text = said(part, "description").or_else(|| said(shown, "description"));
        about.extend(text.filter(|text| !text.is_empty()));
        if self.add(depth, name, about.join(" · ")) {
            self.of(shown, depth + 1, within + 1);
        }
    }

    /// Adds a row; returns whether there was room for it.
    fn add(&mut self, depth: usize, name: &str, about: String) -> bool {
        let (name, about) = match self.left {
            0 => return false,
            1 => ("…", "too long to show; `--json` shows all of it".to_owned()),
            _ => (name, about),
        };
        self.left -= 1;
        let name = format!("{}{name}", "  ".repeat(depth));
        let cells = vec![(name, Some(Style::Strong)), (about, None)];
        self.table.row(cells);
        self.left > 0
    }
}

/// The schemas of a keyword that has a list of them.
fn list<'s>(schema: &'s Value, keyword: &str) -> impl Iterator<Item = &'s Value> + Clone {
    let parts = schema.get(keyword).and_then(Value::as_array);
    parts.map(Vec::as_slice).unwrap_or_default().iter()
}

/// Whether a schema has parts that would be shown below it.
fn has_parts(schema: &Value) -> bool {
    const KEYWORDS: [&str; 6] = [
        "properties",
        "prefixItems",
        "allOf",
        "anyOf",
        "oneOf",
        "$ref",
    ];
    let has = |schema: &Value| KEYWORDS.iter().any(|keyword| schema.get(keyword).is_some());
    has(schema) || is_map(schema) || schema.get("items").is_some_and(has)
}

/// A text as one line.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The limits of a value.
fn limits(part: &Value) -> Vec<String> {
    const WORDS: [(&str, &str); 14] = [
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
        ("minProperties", "members at least"),
        ("maxProperties", "members at most"),
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
    let mut all: Vec<_> = WORDS.into_iter().filter_map(said).collect();
    if part.get("uniqueItems") == Some(&Value::Bool(true)) {
        all.push("no item twice".to_owned());
    }
    all
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

/// A call with valid arguments, as a command line.
fn example_line(server: &Server, name: &str, schema: &Value) -> String {
    let name = shell::quote(name);
    let values = match example(schema) {
        Some(Value::Object(values)) => values,
        _ => Map::new(),
    };
    // In `name=value`, the name ends at the first `=`, so such names need the arguments as one JSON object.
    if values.keys().any(|name| name.contains('=')) {
        let whole = shell::quote(&Value::Object(values).to_string());
        let line = server.line("call", &format!("{name} -"));
        return format!("printf %s {whole} | {line}");
    }
    let words = std::iter::once(name).chain(example_words(&values));
    server.line("call", &words.collect::<Vec<_>>().join(" "))
}

/// Valid arguments as words of a command line, if one of them is an object: those are hard to guess.
pub(crate) fn object_example(schema: &Value) -> Option<String> {
    let Some(Value::Object(values)) = example(schema) else {
        return None;
    };
    let is_hard =
        values.values().any(Value::is_object) && !values.keys().any(|it| it.contains('='));
    is_hard.then(|| example_words(&values).join(" "))
}

/// Arguments as words of a command line.
fn example_words(values: &Map<String, Value>) -> Vec<String> {
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
            "city      string · length at least 2 · Where. More.",
            "options?  object",
            "  days?   integer · default 3 · at least 1 · at most 7",
        ] {
            assert!(text.contains(wanted), "{wanted}\n{text}");
        }
    }

    #[test]
    fn variants_maps_and_deep_objects_are_told() {
        let mut deep = json!({"type": "string"});
        for _ in 0..20 {
            deep = json!({"type": "object", "properties": {"in": deep}});
        }
        let schema = json!({
            "type": "object",
            "properties": {
                "delivery": {"oneOf": [
                    {"title": "pickup", "type": "object", "properties": {"shop": {"type": "string"}}},
                    {"title": "post", "type": "object", "properties": {"address": {"type": "string"}}},
                ]},
                "size": {"anyOf": [{"type": "integer", "minimum": 4}, {"type": "null"}]},
                "plain": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
                "labels": {"type": "object", "additionalProperties": {"type": "integer", "maximum": 9}},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
                "both": {"allOf": [{"type": "object", "properties": {"one": {"type": "boolean"}}}]},
                "deep": deep,
            },
        });
        let mut lines = Vec::new();
        section(&mut lines, "Arguments", &schema, "none");
        let lines: Vec<_> = lines
            .iter()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        for wanted in [
            "delivery? object (pickup|post)",
            "either pickup",
            "shop? string",
            "or post",
            "address? string",
            "size? integer|null",
            "either integer · at least 4",
            "plain? integer|null",
            "tags? string[] · no item twice",
            "labels? {name: integer}",
            "(any name) integer · at most 9",
            "pair? [string, number]",
            "[1] number",
            "both? object",
            "one? boolean",
            "… nested too deeply to show; `--json` shows all of it",
        ] {
            assert!(
                lines.iter().any(|line| line == wanted),
                "{wanted}\n{}",
                lines.join("\n")
            );
        }
        assert_eq!(
            lines
                .iter()
                .filter(|line| line.starts_with("either"))
                .count(),
            2
        );
    }

    #[test]
    fn schemas_that_refer_to_themselves_end() {
        let list = json!({"$defs": {"l": {"type": "array", "items": {"$ref": "#/$defs/l"}}},
            "properties": {"x": {"$ref": "#/$defs/l"}}});
        let all = json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]});
        let tree = json!({"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        for schema in [list, all, tree] {
            let mut lines = Vec::new();
            section(&mut lines, "Arguments", &schema, "none");
            assert!(lines.len() < 8, "{}", lines.join("\n"));
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_told_once() {
        let schema = json!({"properties": {"tree": {"$ref": "#/$defs/node"}}, "$defs": {"node": {
        "type": "object", "properties": {
            "value": {"type": "integer"},
            "left": {"$ref": "#/$defs/node"},
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
        }}}});
        let mut lines = Vec::new();
        section(&mut lines, "Arguments", &schema, "none");
        let lines: Vec<_> = lines.iter().map(|line| line.trim()).collect();
        let wanted = ["", "Arguments", "tree?", "value?", "left?", "children?"];
        assert_eq!(lines.len(), wanted.len(), "{}", lines.join("\n"));
        for (line, start) in lines.iter().zip(wanted) {
            assert!(line.contains(start), "{line}");
        }
        assert!(lines[4].ends_with("object · as above"), "{}", lines[4]);
        assert!(lines[5].ends_with("node[] · as above"), "{}", lines[5]);
    }

    #[test]
    fn an_example_is_made_of_words_that_are_read_back() {
        let schema = json!({"type": "object", "required": ["n", "who"],
            "properties": {"n": {"type": "integer", "minimum": 4}, "who": {"enum": ["you"]}}});
        let values = example(&schema);
        let values = values.as_ref().and_then(Value::as_object);
        let words = example_words(values.expect("it is an object"));
        assert_eq!(words, ["n:=4", "who=you"]);
    }

    #[test]
    fn an_example_with_an_odd_name_reads_the_arguments_from_a_pipe() {
        let server = Server::at(turnbuckle_host::config::Launch::Command {
            program: "lab".to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
        });
        let schema = |name: &str| {
            json!({"type": "object", "required": [name],
                   "properties": {name: {"type": "string", "const": "x"}}})
        };
        assert_eq!(
            example_line(&server, "t", &schema("e=f")),
            r#"printf %s '{"e=f":"x"}' | turnbuckle call lab t -"#
        );
        assert_eq!(
            example_line(&server, "t", &schema("e")),
            "turnbuckle call lab t e=x"
        );
    }
}
