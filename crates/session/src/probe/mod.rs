//! What does the server at the other end speak? A client's search for the answer, as a machine
//! that is told events and names the next action.
//!
//! ```text
//! Started ─▶ discover ─┬─ a modern answer ───────────────▶ Ready(modern)
//!                      ├─ another error ─────────────▶ initialize ─┬─ answered ▶ Ready(legacy)
//!                      ├─ silence ─▶ initialize as well, beside it ┤
//!                      └─ the server is gone ─▶ Reopen ─▶ ─────────┤
//!                                                                  └─ silence ─▶ Reopen ─▶ initialize
//! ```
//!
//! The probe must not break what it looks at, and some servers break: they exit or hang on a first
//! message that is not `initialize`. So whenever a handshake fails on a connection that was probed,
//! the server is started again, once, and gets its `initialize` without a probe before it.
//!
//! A server that is silent may be slow, or hang on what it does not know. So a program is started a
//! second time then, and the second gets `initialize`, while the first may still answer
//! `server/discover`. Whichever answers first is kept, with one exception: `server/discover` is
//! always given at least twice as long as `initialize` took, so that a modern server on a busy
//! machine is not taken for a legacy one.
//!
//! A [`DetectedRevision`] may be remembered, and saves the probe the next time. It is only ever a guess:
//! where it turns out wrong, the search goes on.

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
