//! A modern client of a legacy server. If the server asks a question during a call, the call is
//! parked until the client retries with answers. The call is never run twice (G4, G5, G7).
//!
//! From the first question on, a task owns the call. It collects the server's questions, and gives
//! the call up if the client does not return in time. Requests of the client only wait for it.

mod keeper;
mod parked_call;
mod run;
mod table;
mod waiting;

pub(crate) use run::{Parked, resume, run};
pub(crate) use table::{MAX_PARKED, ParkTable};
