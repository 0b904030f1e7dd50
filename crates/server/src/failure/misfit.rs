//! Answers that fit their form and not their type.

use std::fmt;

/// A field that its type has no value for, though it fits the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    field: String,
    problem: String,
}

impl Misfit {
    /// A field, and what is wrong with it.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        let (field, problem) = (field.into(), problem.into());
        Self { field, problem }
    }

    pub(crate) fn missing(field: &str) -> Self {
        Self::new(field, "is missing")
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field `{}` {}", self.field, self.problem)
    }
}

impl std::error::Error for Misfit {}
