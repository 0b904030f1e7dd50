//! What servers may ask of a client, and who answers: forms and URLs for a person, a completion of
//! a model, the roots.

mod answers;
mod ask;
mod form;
mod roots;
mod visits;

pub(crate) use form::check as check_form;

pub use answers::Answers;
pub(crate) use ask::Unanswered;
pub use ask::{Ask, Refusal};
pub use roots::Roots;
pub(crate) use visits::Visits;
