//! Asks: what a handler needs from the client in the middle of its work.
//!
//! A form to fill in, a URL to visit, a model's answer, the user's roots. The handler awaits the
//! answer, and that is all it does: with a client of 2024-11-05 to 2025-11-25 a request travels to
//! the client and back while the handler waits; with one of 2026-07-28 the handler is dropped, the
//! client is told what is missing, and its retry runs the handler again, with every earlier answer
//! at hand. So there is one rule: **code above an ask may run again**. What must happen once goes
//! into [`Asker::memo`].
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//! use turnbuckle_server::{Answer, Ask, ToolError};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Seat {
//!     /// Which row.
//!     row: u8,
//! }
//!
//! async fn book(Ask(ask): Ask) -> Result<String, ToolError> {
//!     match ask.form::<Seat>("seat", "Which seat would you like?").await? {
//!         Answer::Accepted(seat) => Ok(format!("row {} it is", seat.row)),
//!         Answer::Declined | Answer::Cancelled => Ok("no seat, then".into()),
//!     }
//! }
//! ```

mod answer;
mod asker;
mod asking;
mod failed;
mod form;
mod on_task;
mod requests;

pub use answer::Answer;
pub use asker::{Ask, Asker};
pub(crate) use asking::{AskSlot, Asking, Rounds};
pub use failed::AskFailed;
pub(crate) use requests::{Answered, Requests, Waiting};
