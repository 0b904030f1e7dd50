//! Runs all lints on one tool.

use serde_json::Value;

use super::{defaults, header, name, recursion, root, subschema, words};
use crate::{connection::Connection, finding::Finding, report::Report, table::schema};

/// Checks every tool.
pub(crate) fn look(connection: &Connection<'_>, tools: &[Value]) {
    if tools.is_empty() {
        return;
    }
    let report = connection.report;
    report.step("looking at the schemas of tools");
    for tool in tools {
        look_at(report, tool, connection.is_modern());
    }
    name::compare(report, tools);
    report.ok_unless_found(&schema::INVALID, "schemas compile");
}

fn look_at(report: &Report, tool: &Value, is_modern: bool) {
    let place = Place {
        report,
        tool: tool["name"].as_str().unwrap_or("?").to_owned(),
    };
    name::look(&place, tool);
    words::look(&place, tool);
    root::output(&place, tool, is_modern);
    let Some(input) = tool["inputSchema"].as_object() else {
        // The check of the list reports that it is missing.
        return;
    };
    root::input(&place, &tool["inputSchema"]);
    header::look(&place, input);
    subschema::walk(&tool["inputSchema"], &mut |sub| {
        subschema::look(&place, sub);
    });
    recursion::look(&place, &tool["inputSchema"]);
    defaults::look(&place, &tool["inputSchema"]);
    let annotations = &tool["annotations"];
    if annotations["readOnlyHint"] == true && annotations["destructiveHint"] == true {
        let said = "a tool says that it only reads, and that it destroys";
        place.found(Finding::of(&schema::ANNOTATIONS, said), "/annotations");
    }
}

/// The tool that findings are about.
pub(super) struct Place<'r> {
    report: &'r Report,
    tool: String,
}

impl Place<'_> {
    pub(super) fn found(&self, finding: Finding, pointer: &str) {
        let place = if pointer.is_empty() {
            format!("tool `{}`", self.tool)
        } else {
            format!("tool `{}` {pointer}", self.tool)
        };
        self.report.add(finding.at(place));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::Severity;

    /// The ids of the findings about a tool.
    fn ids(tool: &Value) -> Vec<&'static str> {
        let report = Report::test();
        look_at(&report, tool, true);
        let found = report.findings();
        let bad = found.iter().filter(|it| it.severity > Severity::Ok);
        let mut ids: Vec<_> = bad.map(|it| it.check.id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn tool(schema: &Value) -> Value {
        json!({ "name": "t", "description": "Does.", "inputSchema": schema })
    }

    fn property(schema: &Value) -> Value {
        tool(&json!({ "type": "object", "properties": { "a": schema } }))
    }

    #[test]
    fn a_plain_tool_has_no_lint() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": {
                "a": { "type": "integer", "minimum": 0, "default": 1 },
                "b": { "type": "array", "items": { "type": "string", "format": "email" } },
                "c": { "anyOf": [{ "type": "string" }, { "type": "null" }], "default": null },
                "d": { "enum": ["x", "y"] },
                "e": { "type": "object", "additionalProperties": { "type": "number" } },
            },
            "required": ["a"],
            "additionalProperties": false,
        });
        assert_eq!(ids(&tool(&schema)), Vec::<&str>::new());
        assert!(ids(&tool(&json!({ "type": "object" }))).is_empty());
    }

    #[test]
    fn every_lint_of_a_property_finds_what_it_is_for() {
        let recursive = json!({ "type": "object", "properties": { "n": { "$ref": "#/$defs/N" } },
            "$defs": { "N": { "type": "object", "properties": { "n": { "$ref": "#/$defs/N" } } } } });
        assert_eq!(
            ids(&tool(&recursive)),
            ["schema.recursion", "schema.reference"]
        );
        let mut deep = json!({ "type": "string" });
        for _ in 0..7 {
            deep = json!({ "type": "object", "properties": { "x": deep } });
        }
        assert_eq!(ids(&tool(&deep)), ["schema.depth"]);
        for (schema, wanted) in [
            (json!({ "type": "array" }), "schema.items"),
            (json!({ "type": ["string", "null"] }), "schema.type-list"),
            (json!({ "description": "anything" }), "schema.untyped"),
            (json!(true), "schema.boolean"),
            (json!({ "enum": [1, 2] }), "schema.enum"),
            (
                json!({ "type": "string", "enum": ["", "a"] }),
                "schema.enum",
            ),
            (
                json!({ "type": "integer", "format": "uint32" }),
                "schema.format",
            ),
            (
                json!({ "type": "array", "items": { "type": "string" }, "prefixItems": [{ "type": "string" }] }),
                "schema.tuple",
            ),
            (
                json!({ "type": "object", "patternProperties": { "^x": { "type": "string" } } }),
                "schema.pattern-properties",
            ),
            (
                json!({ "type": "object", "properties": {}, "required": ["gone"] }),
                "schema.required",
            ),
            (
                json!({ "type": "integer", "default": "one" }),
                "schema.default",
            ),
            (json!({ "type": "strnig" }), "schema.invalid"),
            (
                json!({ "$ref": "https://example.com/x.json" }),
                "schema.external",
            ),
            (
                json!({ "type": "number", "x-mcp-header": "Price" }),
                "schema.header",
            ),
        ] {
            let found = ids(&property(&schema));
            assert!(found.contains(&wanted), "{schema}: {found:?}");
        }
    }

    #[test]
    fn roots_names_and_words() {
        let root = |schema: Value| ids(&tool(&schema));
        assert_eq!(root(json!({ "properties": {} })), ["schema.root-type"]);
        let union = json!({ "type": "object", "anyOf": [{ "required": ["a"] }] });
        assert_eq!(root(union), ["schema.root-union"]);
        let dialect =
            json!({ "$schema": "http://json-schema.org/draft-04/schema#", "type": "object" });
        assert!(root(dialect).contains(&"schema.dialect"));
        let odd = json!({ "type": "object", "properties": { "a b": { "type": "string" } } });
        assert_eq!(root(odd), ["schema.property-name"]);
        let secret = json!({ "type": "object", "properties":
            { "password": { "type": "string", "x-mcp-header": "Password" } } });
        assert_eq!(root(secret), ["schema.secret-header"]);
        let named = |name: &str| {
            ids(&json!({ "name": name, "description": "x", "inputSchema": { "type": "object" } }))
        };
        assert_eq!(named("get user"), ["schema.name"]);
        assert_eq!(named(&"x".repeat(60)), ["schema.name-length"]);
        let said = |words: &str| {
            ids(&json!({ "name": "x", "description": words, "inputSchema": { "type": "object" } }))
        };
        assert_eq!(said(""), ["schema.description"]);
        assert_eq!(said(&"x".repeat(1025)), ["schema.description-length"]);
        assert_eq!(said("adds\u{200b} numbers"), ["schema.invisible"]);
        assert_eq!(said("line\nline\ttab"), Vec::<&str>::new());
    }
}
