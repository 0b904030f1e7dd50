//! The inside of one connection: what waits for answers, what goes out, what comes in.

mod clock;
mod driver;
mod ending;
mod inbound;
mod outgoing;
mod oversized;
mod own_tasks;
mod pending;
#[cfg(feature = "http")]
mod post;
mod race;
mod request;
mod serving;
mod shared;
mod slot;
mod wire;

pub(crate) use driver::{Opened, open};
pub use ending::Ending;
#[cfg(feature = "http")]
pub(crate) use inbound::Inbound;
pub(crate) use outgoing::{Outgoing, Stamp, split_meta};
pub(crate) use race::{First, race};
pub(crate) use request::{OnDrop, Progress};
pub(crate) use serving::MAX_OPEN_ASKS;
pub(crate) use shared::Link;
#[cfg(feature = "http")]
pub(crate) use slot::Slot;
