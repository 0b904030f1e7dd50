//! Questions of handlers to the client: elicitation, sampling and roots.
//!
//! A question is a form to fill in, a URL to visit, a request for a model's answer, or one for the
//! user's roots. [`Asker`] describes how questions work in each revision.

mod answer;
mod asker;
mod asking;
mod choice;
mod form;
mod form_field;
pub mod form_limit;
pub(crate) mod link_tokens;
mod on_task;
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
