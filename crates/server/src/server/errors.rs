//! Settings for the text of unexpected errors that clients and models see.

use std::{error::Error, sync::Arc};

use super::Server;
use crate::failure::ErrorTexts;

impl Server {
    /// Shows the text of unexpected errors, with their causes, to clients and models. Use it for
    /// servers whose errors contain no secrets, and during development.
    ///
    /// By default a model reads that the tool failed, and a number under which the error is in the
    /// server's log. Texts that handlers return on purpose, such as
    /// [`ToolError::new`](crate::ToolError::new) and `String`, are always shown; a
    /// [`Fault`](crate::Fault) and a panic are never shown.
    pub fn show_errors(mut self) -> Self {
        self.errors = ErrorTexts::Shown;
        self
    }

    /// Chooses for each unexpected error what clients and models read. The function returns a text,
    /// or `None` to show only a number.
    ///
    /// ```
    /// use std::{error::Error, num::ParseIntError};
    /// use turnbuckle_server::Server;
    ///
    /// let server = Server::new("shop", "1.0.0").show_errors_with(|error| {
    ///     let unreadable = error.downcast_ref::<ParseIntError>()?;
    ///     Some(format!("not a number: {unreadable}"))
    /// });
    /// ```
    pub fn show_errors_with(
        mut self,
        choose: impl Fn(&(dyn Error + 'static)) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.errors = ErrorTexts::Chosen(Arc::new(choose));
        self
    }
}
