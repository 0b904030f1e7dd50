//! Checks raw JSON text, for arguments that have not been parsed yet.

use serde_json::Value;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::schema::Schema;
use crate::violation::Violation;

/// Why a text was not accepted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TextError {
    /// The text is not JSON, or is nested too deep to be parsed.
    #[error("the text is not JSON that can be read")]
    Json(#[from] serde_json::Error),
    /// The text is JSON, but violates the schema.
    #[error("the value violates its schema in {} places", .0.len())]
    Violations(Vec<Violation>),
}

impl Schema {
    /// Parses a raw value and checks it. The parser of `serde_json` rejects values nested deeper than 128 levels,
    /// before anything recurses into them. Returns the parsed value.
    ///
    /// # Errors
    /// If the text cannot be parsed, or the value violates the schema.
    pub fn check_text(&self, text: &RawValue) -> Result<Value, TextError> {
        let value: Value = serde_json::from_str(text.get())?;
        match self.check(&value) {
            Ok(()) => Ok(value),
            Err(violations) => Err(TextError::Violations(violations)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_parsed_and_checked_in_one_go() {
        let schema = Schema::compile(&json!({"type": "object"})).expect("a schema");
        let raw = |text: &str| RawValue::from_string(text.to_owned()).expect("JSON");
        assert_eq!(
            schema.check_text(&raw("{\"a\":1}")).expect("valid"),
            json!({"a": 1})
        );
        let refused = schema.check_text(&raw("[]"));
        assert!(matches!(refused, Err(TextError::Violations(list)) if list.len() == 1));
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        if let Ok(raw) = RawValue::from_string(deep) {
            assert!(matches!(schema.check_text(&raw), Err(TextError::Json(_))));
        }
    }
}
