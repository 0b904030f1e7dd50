//! The text of unexpected errors that clients and models see.

use std::{error::Error, fmt, sync::Arc};

use turnbuckle_base::error_chain::in_one_line;

/// Chooses the text of an unexpected error, or hides it.
pub(crate) type Choose = dyn Fn(&(dyn Error + 'static)) -> Option<String> + Send + Sync;

/// How unexpected errors are shown to clients and models.
#[derive(Clone, Default)]
pub(crate) enum ErrorTexts {
    /// Only a number, under which the log has the error.
    #[default]
    Masked,
    /// The error and its causes.
    Shown,
    /// The text of the author's function; a number if it returns none.
    Chosen(Arc<Choose>),
}

impl ErrorTexts {
    /// Returns the text of an error, or `None` if only its number may be shown.
    pub(crate) fn of(&self, error: &(dyn Error + 'static)) -> Option<String> {
        match self {
            Self::Masked => None,
            Self::Shown => Some(in_one_line(error)),
            Self::Chosen(choose) => choose(error),
        }
    }
}

impl fmt::Debug for ErrorTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Masked => "Masked",
            Self::Shown => "Shown",
            Self::Chosen(_) => "Chosen",
        })
    }
}
