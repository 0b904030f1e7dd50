//! The user's answer to a question.

use crate::ToolError;

/// The user's answer to a form or to a request to visit a URL. [`accepted`](Self::accepted) turns
/// [`Declined`](Self::Declined) and [`Cancelled`](Self::Cancelled) into an error for the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<T> {
    /// The user filled in the form, or agreed to visit the URL.
    Accepted(T),
    /// The user declined explicitly. Do not ask the same question again.
    Declined,
    /// The user closed the question without an answer. It can be asked again later.
    Cancelled,
}

impl<T> Answer<T> {
    /// Returns the value if the user accepted, and otherwise an error that the model reads.
    ///
    /// # Errors
    /// If the user declined or cancelled.
    pub fn accepted(self) -> Result<T, ToolError> {
        match self {
            Self::Accepted(value) => Ok(value),
            Self::Declined => Err(ToolError::new("the user declined to answer")),
            Self::Cancelled => Err(ToolError::new("the user dismissed the question")),
        }
    }
}
