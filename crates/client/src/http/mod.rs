//! Messages to a server at a URL: one POST, and its answer.
//!
//! A request is one POST, driven by the future of its call: the response is read there, and dropping
//! the call closes its stream ([`exchange`]). [`Http`] is the state that the requests of a connection
//! share. The code that opens such a connection, and the event streams for messages that belong to no
//! request, are in `connect::http`.

mod exchange;
mod extension_names;
mod fault;
mod head;
mod header_name;
mod position;
mod reachability;
mod refusal;
mod repeatable;
mod session;
mod transport;

pub(crate) use exchange::{Answered, AttemptError, Post, is_message};
pub(crate) use fault::{Fault, TellError};
pub(crate) use head::of_session;
pub(crate) use position::{Position, jitter};
pub(crate) use refusal::{HttpRefusal, is_gone, is_passing};
pub(crate) use session::{Reopenings, Session};
pub(crate) use transport::{Http, MAX_RETRIES, ReceiveFrom};
