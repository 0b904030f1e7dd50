//! The eras of the Model Context Protocol without I/O.
//!
//! This crate is internal: its API may change in any release. Depend on `turnbuckle` instead, which
//! re-exports the types that its users need.
//!
//! Every type here is a state machine that receives events and returns what to do: there are no
//! sockets, no async runtime, no clock and no randomness. The time is an argument, and so are ids that
//! must differ between machines.
//!
//! | module | used by | question it answers |
//! |---|---|---|
//! | [`era`] | server | which era does this message belong to? |
//! | [`negotiate()`] | both | which revision do the two sides use? |
//! | [`lifecycle`] | server | may this legacy message be served or sent now? |
//! | [`modern`] | server | does this modern request have all required metadata? |
//! | [`requests`] | both | which requests wait for answers, and how much longer? |
//! | [`in_flight`] | both | which requests are being served, and which of them does a cancellation end? |
//! | [`progress`] | both | may this progress value be sent or accepted? |
//! | [`round`] | server | what is the client asked, and what is known when its answers come? |
//! | [`probe`] | client | which revision does the server support? |

pub mod era;
pub mod in_flight;
pub mod lifecycle;
pub mod modern;
pub mod negotiate;
pub mod probe;
pub mod progress;
pub mod requests;
pub mod round;

pub use era::Era;
pub use in_flight::InFlight;
pub use lifecycle::{Phase, ServerLifecycle};
pub use modern::Modern;
pub use negotiate::negotiate;
pub use probe::{DetectedRevision, Probe};
pub use requests::RequestTable;
pub use round::Round;
