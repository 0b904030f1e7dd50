//! Small parts that several crates of Turnbuckle need and the standard library lacks.
//!
//! This crate is internal: its API may change in any release. Depend on `turnbuckle` instead.

pub mod error_chain;
pub mod jitter;
pub mod lock;
pub mod loopback;
pub mod private;
pub mod replace;
pub mod wall_clock;
