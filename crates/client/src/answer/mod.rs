//! Requests of servers to the client, and their handlers: forms and URLs for a user, sampling for a
//! model, and roots. Requests without a handler may be answered by hand ([`manual_calls`]).

mod answers;
mod ask;
mod form;
mod manual_calls;
mod meta;
mod parked;
mod progress;

pub use answers::Answers;
pub(crate) use ask::Unanswered;
pub use ask::{Refusal, ServerAsk};
pub(crate) use form::check as check_form;
pub(crate) use manual_calls::{MAX_WAIT, ManualCall, ManualCalls};
pub(crate) use meta::invalid_key as invalid_meta_key;
pub(crate) use parked::ParkedCall;
pub use progress::AskProgress;
pub(crate) use progress::token_of;
