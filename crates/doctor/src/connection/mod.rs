//! Talks to a server message by message and repairs nothing: doctor looks for the mistakes that a client library
//! would correct or hide.

mod answers;
pub(crate) mod conduct;
mod events;
mod exchange;
mod http;
mod spoken;
mod stdio;
mod transport;

pub(crate) use events::{EventsTransport, NotEvents};
pub(crate) use exchange::{Answer, Exchange, Head};
pub(crate) use http::{HttpTransport, Post, head};
pub(crate) use spoken::Spoken;
pub(crate) use stdio::{StdioTransport, Stray};
pub(crate) use transport::{Connection, MAX_MESSAGE, Transport};
