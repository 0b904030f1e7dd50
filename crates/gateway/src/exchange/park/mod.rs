//! A modern client in front of a legacy server: a call in whose middle the server asks is parked until
//! the client comes back with answers. It is never run twice (G4, G5, G7).
//!
//! The call belongs to the gateway from the first question on. A task holds it, collects what the server
//! asks, and gives it up when the client does not come back in time. Requests of the client only wait for it.

mod keeper;
mod parked_call;
mod run;
mod table;
mod waiting;

pub(crate) use run::{Parked, resume, run};
pub(crate) use table::{MAX_PARKED, ParkTable};
