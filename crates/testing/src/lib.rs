//! Test servers and clients of the Model Context Protocol in process, at every revision.
//!
//! | to | use |
//! |---|---|
//! | run one test body at all five revisions | [`every_revision!`] |
//! | connect a client to a server in memory | [`connect`], [`connect_at`] |
//! | prove that handlers ask the same questions when they run again | all of these; [`reenter`] by itself |
//! | see every message that passed | [`Recorded`] |
//! | compare a server with a transcript | [`Transcript`] |
//! | see how a server copes with a bad network | `sim`, with the feature of that name |
//!
//! Nothing here leaves this machine or waits for real time.

mod connect;
mod every_revision;
mod flight;
mod record;
mod reenter;
#[cfg(feature = "sim")]
pub mod sim;
mod transcript;

pub use connect::{connect, connect_at, connect_with, plain_client};
pub use every_revision::{run_as, run_at};
pub use record::{Line, Recorded, Side, record};
pub use reenter::{Differences, reenter};
pub use transcript::{Mismatch, Transcript, TranscriptError};
pub use turnbuckle_client as client;
pub use turnbuckle_protocol as protocol;
pub use turnbuckle_server as server;
