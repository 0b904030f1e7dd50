//! The kinds of value that a schema allows, and reading a text as one of them.

use serde_json::Value;

use super::Tree;

/// The kinds of value that a schema allows at one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each kind is allowed or not, independently of the others"
)]
pub(super) struct Kinds {
    pub(super) null: bool,
    pub(super) boolean: bool,
    pub(super) integer: bool,
    pub(super) number: bool,
    pub(super) text: bool,
    pub(super) list: bool,
    pub(super) object: bool,
}

impl Kinds {
    /// The kinds that any of these schemas allows; empty if none of them restricts the kind.
    pub(super) fn of(schemas: &[&Value]) -> Self {
        let mut kinds = Self::default();
        for schema in schemas {
            match schema.get("type") {
                Some(Value::String(name)) => kinds.admit(name),
                Some(Value::Array(names)) => {
                    for name in names.iter().filter_map(Value::as_str) {
                        kinds.admit(name);
                    }
                }
                _ => {
                    let choices = schema.get("enum").and_then(Value::as_array);
                    let choices = choices.into_iter().flatten().chain(schema.get("const"));
                    choices.for_each(|choice| kinds.admit_like(choice));
                }
            }
        }
        kinds
    }

    fn admit(&mut self, name: &str) {
        match name {
            "null" => self.null = true,
            "boolean" => self.boolean = true,
            "integer" => self.integer = true,
            "number" => self.number = true,
            "string" => self.text = true,
            "array" => self.list = true,
            "object" => self.object = true,
            _ => {}
        }
    }

    fn admit_like(&mut self, value: &Value) {
        self.admit(match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        });
    }

    fn is_unknown(self) -> bool {
        self == Self::default()
    }

    /// Reads a text as the first of the allowed kinds that it fits. `None` if it fits no kind.
    pub(super) fn read(self, text: &str) -> Option<Tree> {
        let json = || Tree::parse(text).ok();
        let is_number =
            json().is_some_and(|tree| matches!(&tree, Tree::Leaf(leaf) if is_numeral(leaf)));
        let is_integer = is_number && !text.contains(['.', 'e', 'E']);
        let starts = |character| text.trim_start().starts_with(character);
        if self.is_unknown() {
            return Some(json().unwrap_or_else(|| Tree::text(text)));
        }
        let plain = (self.null && text == "null")
            || (self.boolean && matches!(text, "true" | "false"))
            || (self.number && is_number)
            || (self.integer && is_integer)
            || (self.list && starts('['))
            || (self.object && starts('{'));
        match (plain, self.text) {
            (true, _) => json().or_else(|| self.text.then(|| Tree::text(text))),
            (false, true) => Some(Tree::text(text)),
            (false, false) => None,
        }
    }

    /// The allowed kinds as text.
    pub(super) fn described(self) -> String {
        let words = [
            (self.text, "a string"),
            (self.integer && !self.number, "an integer"),
            (self.number, "a number"),
            (self.boolean, "true or false"),
            (self.list, "a list"),
            (self.object, "an object"),
            (self.null, "null"),
        ];
        let words: Vec<_> = words
            .into_iter()
            .filter_map(|(is_allowed, word)| is_allowed.then_some(word))
            .collect();
        words.join(" or ")
    }
}

fn is_numeral(leaf: &str) -> bool {
    leaf.starts_with(|first: char| first == '-' || first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(schema: &Value, text: &str) -> Option<String> {
        Kinds::of(&[schema]).read(text).map(|tree| tree.to_json())
    }

    #[test]
    fn a_text_becomes_what_the_schema_wants() {
        for (schema, text, json) in [
            (json!({"type": "string"}), "1", Some(r#""1""#)),
            (json!({"type": "string"}), "null", Some(r#""null""#)),
            (json!({"type": ["string", "null"]}), "null", Some("null")),
            (
                json!({"type": "integer"}),
                "9007199254740993",
                Some("9007199254740993"),
            ),
            (json!({"type": "integer"}), "1.5", None),
            (json!({"type": "integer"}), "one", None),
            (json!({"type": "number"}), "1.50", Some("1.50")),
            (json!({"type": "number"}), "", None),
            (json!({"type": "boolean"}), "true", Some("true")),
            (json!({"type": "boolean"}), "yes", None),
            (json!({"type": "array"}), "[1]", Some("[1]")),
            (json!({"type": "array"}), "x", None),
            (json!({"type": "object"}), r#"{"a": 1}"#, Some(r#"{"a":1}"#)),
            (json!({"type": "object"}), "{", None),
            (json!({"enum": [1, 2]}), "1", Some("1")),
            (json!({"enum": ["1", "2"]}), "1", Some(r#""1""#)),
            (json!({"type": ["integer", "string"]}), "x", Some(r#""x""#)),
            (json!({}), "x", Some(r#""x""#)),
            (json!({}), "1", Some("1")),
        ] {
            assert_eq!(read(&schema, text).as_deref(), json, "{schema} {text}");
        }
    }
}
