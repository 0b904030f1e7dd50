//! A client's search for the revision of the server, as a state machine that handles events and returns
//! the next action.
//!
//! ```text
//! Started ─▶ discover ─┬─ a modern answer ───────────────▶ Ready(modern)
//!                      ├─ another error ─────────────▶ initialize ─┬─ answered ▶ Ready(legacy)
//!                      ├─ silence ─▶ initialize as well, beside it ┤
//!                      └─ the server is gone ─▶ Reopen ─▶ ─────────┤
//!                                                                  └─ silence ─▶ Reopen ─▶ initialize
//! ```
//!
//! The probe must not break the server, and some servers do break: they exit or hang on a first message
//! that is not `initialize`. So if a handshake fails on a connection that was probed, the server is
//! restarted, once, and gets `initialize` without a probe before it.
//!
//! A server that does not answer may be slow, or hang because it does not know the method. So a program
//! is then started a second time. The second process gets `initialize`, while the first may still
//! answer `server/discover`. The process that answers first is kept, with one exception:
//! `server/discover` always gets at least twice as much time as `initialize` took, so that a modern
//! server on a busy machine is not mistaken for a legacy one.
//!
//! A [`DetectedRevision`] can be remembered, and saves the probe the next time. It is only a guess: if
//! it is wrong, the search continues.

mod action;
mod detected_revision;
mod discovering;
mod event;
mod failure;
mod initializing;
mod machine;
mod memory;
mod racing;
mod settings;

pub use action::Action;
pub use detected_revision::DetectedRevision;
pub use event::{Asked, Event, ProbeRefusal};
pub use failure::{Attempt, Outcome, ProbeFailure, Reason, Step};
pub use machine::Probe;
pub use settings::{HANDSHAKE_TIMEOUT, PROBE_TIMEOUT, RevisionChoice, Settings};
