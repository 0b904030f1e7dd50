//! Form answers that are valid but cannot be converted to the Rust type.

use std::fmt;

/// A form value that is valid for the form's schema, but that the Rust type cannot hold. A
/// [`Form`](crate::Form) returns it, and the model or the client reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    field: String,
    problem: String,
}

impl FieldError {
    /// Creates an error for this field. The message is `` field `NAME` PROBLEM ``, so write the
    /// problem as the rest of a sentence: `must be even`.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        let (field, problem) = (field.into(), problem.into());
        Self { field, problem }
    }

    pub(crate) fn missing(field: &str) -> Self {
        Self::new(field, "is missing")
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field `{}` {}", self.field, self.problem)
    }
}

impl std::error::Error for FieldError {}
