//! Other replicas of this server: session ids that each of them can read, and the messages between
//! them.

mod calls;
mod event_writer;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod handshake;
mod letter;
mod place;
mod replicas;
#[cfg(all(test, feature = "replicas"))]
mod samples;
mod seen;
mod stream_log;

pub(crate) use calls::CallFailed;
pub(crate) use handshake::{Handshake, HandshakeRest, OpenedId};
pub(crate) use letter::{Message, Outcome, Pulled};
pub(crate) use place::Place;
pub(crate) use replicas::{MessageHandler, Replicas, StreamLife};
pub(crate) use stream_log::StreamLog;
