//! The JSON-RPC 2.0 envelope: what every message looks like before anyone asks what it means.

mod id;

pub use id::{Id, IdRef};
