//! Asks: what a handler needs from the client in the middle of its work.
//!
//! A form to fill in, a URL to visit, a model's answer, the user's roots. The handler awaits the
//! answer, and that is all it does: with a client of 2024-11-05 to 2025-11-25 a request travels to
//! the client and back while the handler waits; with one of 2026-07-28 the handler is dropped, the
//! client is told what is missing, and its retry runs the handler again, with every earlier answer
//! at hand. So there is one rule: **code above an ask may run again**. What must happen once goes
//! into [`Asker::memo`].
//!
//! ```
//! use turnbuckle_server::{Answer, Ask, ToolError};
//!
//! async fn delete(Ask(ask): Ask) -> Result<String, ToolError> {
//!     match ask.form::<()>("sure", "Delete everything?").await? {
//!         Answer::Accepted(()) => Ok("gone".into()),
//!         Answer::Declined | Answer::Cancelled => Ok("kept".into()),
//!     }
//! }
//! ```

mod answer;
mod asker;
mod asking;
mod choice;
mod form;
mod form_field;
pub mod form_limit;
mod on_task;
pub(crate) mod pass;
mod question;
mod request_state;
mod rounds;
mod scripted;
mod settings;
mod visit;

pub use answer::Answer;
pub use asker::Asker;
pub(crate) use asking::Asking;
pub use choice::{Choice, ChoiceField, ChoiceOption, ChoicesField};
pub use form::{Form, FormValues};
pub use form_field::{BooleanField, FormField, NumberField, TextField};
pub use question::Question;
pub(crate) use rounds::{AskSlot, CallAsks};
pub use scripted::ScriptedAnswers;
pub(crate) use settings::{AskContext, AskSettings};
pub use turnbuckle_session::round::FormSchema;
pub use visit::Visit;
