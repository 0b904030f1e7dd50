//! Violations as text for a model: what is wrong and where, what was expected, and a valid example.

use std::fmt::Write as _;

use crate::schema::Schema;
use crate::shown::shortened;
use crate::violation::{Keyword, Violation};

impl Schema {
    /// Writes violations as text that a model can act on: one line for each, and a valid example at
    /// the end if one could be built. The text has no heading; the caller knows what was checked.
    ///
    /// ```
    /// use serde_json::json;
    /// use turnbuckle_schema::Schema;
    ///
    /// let schema = Schema::compile(&json!({
    ///     "type": "object",
    ///     "properties": { "path": { "type": "string" } },
    ///     "required": ["path"]
    /// }))?;
    /// let violations = schema.check(&json!({ "pth": "/tmp" })).unwrap_err();
    /// assert_eq!(
    ///     schema.explain(&violations),
    ///     "- at the top level: the required property `path` is missing; you sent `pth`, rename it to `path`\n\
    ///      A valid example: {\"path\":\"text\"}"
    /// );
    /// # Ok::<(), turnbuckle_schema::SchemaError>(())
    /// ```
    pub fn explain(&self, violations: &[Violation]) -> String {
        let mut text = String::new();
        for violation in violations {
            explain_one(violation, 0, &mut text);
        }
        match self.example() {
            Some(example) => {
                let _ = write!(text, "A valid example: {example}");
            }
            None => text.truncate(text.trim_end().len()),
        }
        text
    }
}

fn explain_one(violation: &Violation, level: usize, text: &mut String) {
    let place = if violation.pointer.is_empty() {
        "at the top level".to_owned()
    } else {
        format!("`{}`", shortened(&violation.pointer))
    };
    let _ = writeln!(text, "{:level$}- {place}: {}", "", clause(violation));
    if !violation.because.is_empty() {
        let _ = writeln!(
            text,
            "{:level$}  the alternative that came closest says:",
            ""
        );
        for inner in &violation.because {
            explain_one(inner, level + 2, text);
        }
    }
}

fn clause(violation: &Violation) -> String {
    let Violation {
        keyword,
        expected,
        found,
        nearest,
        ..
    } = violation;
    match (keyword, nearest) {
        (Keyword::Required, Some(sent)) => {
            let name = expected.trim_start_matches("the property ");
            format!("the required property {name} is missing; you sent {sent}, rename it to {name}")
        }
        (Keyword::Required, None) => {
            let name = expected.trim_start_matches("the property ");
            format!("the required property {name} is missing; found {found}")
        }
        (Keyword::AdditionalProperties | Keyword::UnevaluatedProperties, Some(meant)) => {
            format!("unknown property; did you mean {meant}? Expected {expected}")
        }
        (Keyword::AdditionalProperties | Keyword::UnevaluatedProperties, None) => {
            format!("unknown property; expected {expected}")
        }
        (_, Some(meant)) => format!("expected {expected}, found {found}; did you mean {meant}?"),
        (_, None) => format!("expected {expected}, found {found}"),
    }
}
