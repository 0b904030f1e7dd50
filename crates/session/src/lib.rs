//! The eras of the Model Context Protocol without I/O.
//!
//! This crate is internal: its API may change in any release. Depend on `turnbuckle` instead, which
//! re-exports the types that its users meet.
//!
//! Everything here is a value that is told what happened and says what follows: no sockets, no
//! async runtime, no clock, no randomness. Time comes in as an argument, and so do ids that must
//! differ between machines.
//!
//! | module | used by | question it answers |
//! |---|---|---|
//! | [`era`] | server | which era does this message belong to? |
//! | [`negotiate()`] | both | which revision do the two ends speak? |
//! | [`lifecycle`] | server | may this legacy message be served or sent now? |
//! | [`modern`] | server | is this modern request complete in itself? |
//! | [`requests`] | both | who waits for which answer, and how long still? |
//! | [`in_flight`] | both | what is being served, and what does a cancellation end? |
//! | [`progress`] | both | may this progress value be sent or believed? |
//! | [`round`] | server | what is asked of the client, and what is known when it comes back? |
//! | [`probe`] | client | what does the server at the other end speak? |

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
