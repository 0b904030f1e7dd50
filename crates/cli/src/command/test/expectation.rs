//! Expectations about parts of a result.

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use serde_json_path::JsonPath;
use turnbuckle::schema::Schema;

/// How many characters of a value are shown.
const MAX_SHOWN: usize = 200;

/// The expectations about the values at a path. All of them must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expectation {
    /// A JSON path by RFC 9535. Defaults to the whole result.
    at: Option<String>,
    /// Each value equals this one.
    #[serde(deserialize_with = "present")]
    equals: Option<Value>,
    /// Each value is a string that contains this text, or a list that contains this item.
    #[serde(deserialize_with = "present")]
    contains: Option<Value>,
    /// Each value is a string that matches this regular expression.
    matches: Option<String>,
    /// The number of values.
    count: Option<usize>,
    /// Each value satisfies this JSON Schema.
    schema: Option<Value>,
}

/// Distinguishes `null` from an absent member.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl Expectation {
    /// Checks that the expectation itself is valid.
    pub(super) fn check_itself(&self) -> Result<(), String> {
        self.path()?;
        if let Some(schema) = &self.schema {
            compiled(schema)?;
        }
        if let Some(pattern) = &self.matches {
            compiled(&pattern_of(pattern))
                .map_err(|_| format!("`{pattern}` is not a regular expression"))?;
        }
        let expects = self.equals.is_some()
            || self.contains.is_some()
            || self.matches.is_some()
            || self.count.is_some()
            || self.schema.is_some();
        if expects {
            Ok(())
        } else {
            Err(
                "`at` needs one of `equals`, `contains`, `matches`, `count` and `schema` beside it"
                    .to_owned(),
            )
        }
    }

    /// The expectations that do not hold.
    pub(super) fn problems(&self, result: &Value) -> Vec<String> {
        let at = self.at.as_deref().unwrap_or("$");
        let path = match self.path() {
            Ok(path) => path,
            Err(problem) => return vec![problem],
        };
        let found = path.query(result).all();
        let mut problems = Vec::new();
        match self.count {
            Some(count) if count != found.len() => {
                problems.push(format!(
                    "{at}: expected {count} values, got {}",
                    found.len()
                ));
            }
            None if found.is_empty() => problems.push(format!("{at}: no value found")),
            _ => {}
        }
        for value in found {
            let told = self.problems_of(value).into_iter();
            problems.extend(told.map(|problem| format!("{at}: {problem}")));
        }
        problems
    }

    fn problems_of(&self, value: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        if let Some(wanted) = &self.equals
            && !is_same(wanted, value)
        {
            problems.push(format!("expected {}, got {}", shown(wanted), shown(value)));
        }
        if let Some(wanted) = &self.contains
            && !contains(value, wanted)
        {
            problems.push(format!(
                "{} does not contain {}",
                shown(value),
                shown(wanted)
            ));
        }
        if let Some(pattern) = &self.matches
            && let Err(problem) = fits(&pattern_of(pattern), value)
        {
            problems.push(problem);
        }
        if let Some(schema) = &self.schema
            && let Err(problem) = fits(schema, value)
        {
            problems.push(problem);
        }
        problems
    }

    fn path(&self) -> Result<JsonPath, String> {
        let at = self.at.as_deref().unwrap_or("$");
        JsonPath::parse(at).map_err(|error| format!("`{at}` is not a JSON path: {error}"))
    }
}

fn pattern_of(pattern: &str) -> Value {
    json!({"type": "string", "pattern": pattern})
}

fn compiled(schema: &Value) -> Result<Schema, String> {
    Schema::compile(schema).map_err(|error| format!("the schema cannot be used: {error}"))
}

fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    compiled(schema)?.check(value).map_err(|violations| {
        let problems: Vec<_> = violations.iter().map(ToString::to_string).collect();
        problems.join("; ")
    })
}

/// Whether two values are equal: numbers by value, members in any order.
fn is_same(one: &Value, other: &Value) -> bool {
    compiled(&json!({ "const": one })).is_ok_and(|schema| schema.check(other).is_ok())
}

fn contains(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
        (Value::Array(items), wanted) => items.iter().any(|item| is_same(wanted, item)),
        _ => false,
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(expectation: Value, result: &Value) -> Vec<String> {
        let expectation: Expectation = serde_json::from_value(expectation).unwrap();
        expectation.check_itself().unwrap();
        expectation.problems(result)
    }

    #[test]
    fn each_kind_holds_or_says_why_not() {
        let result = json!({
            "content": [{"type": "text", "text": "3 degrees in Oslo"}, {"type": "image"}],
            "structuredContent": {"sum": 3, "none": null},
        });
        for (holds, fails, said) in [
            (
                json!({"at": "$.structuredContent.sum", "equals": 3.0}),
                json!({"at": "$.structuredContent.sum", "equals": "3"}),
                "$.structuredContent.sum: expected \"3\", got 3",
            ),
            (
                json!({"at": "$.structuredContent.none", "equals": null}),
                json!({"at": "$.structuredContent.absent", "equals": null}),
                "$.structuredContent.absent: no value found",
            ),
            (
                json!({"at": "$.content[0].text", "contains": "Oslo"}),
                json!({"at": "$.content[0].text", "contains": "Bergen"}),
                "$.content[0].text: \"3 degrees in Oslo\" does not contain \"Bergen\"",
            ),
            (
                json!({"at": "$.content[*].type", "count": 2, "matches": "^(text|image)$"}),
                json!({"at": "$.content[*].type", "count": 1}),
                "$.content[*].type: expected 1 values, got 2",
            ),
            (
                json!({"at": "$.missing", "count": 0}),
                json!({"at": "$.content[0].text", "matches": "^Oslo"}),
                "$.content[0].text: ",
            ),
            (
                json!({"schema": {"required": ["content"]}}),
                json!({"schema": {"required": ["isError"]}}),
                "isError",
            ),
        ] {
            assert_eq!(problems(holds.clone(), &result), [""; 0], "{holds}");
            let told = problems(fails, &result);
            assert!(told.len() == 1 && told[0].contains(said), "{told:?}");
        }
    }
}
