//! `turnbuckle up`: every server at one endpoint, for clients of every revision.
//!
//! [`command`] reads the command line and serves; [`plan`] finds the servers that are meant; [`mod@file`]
//! reads what `turnbuckle.toml` says beside how servers are started; [`reload`] looks for changes;
//! [`lines`] tells how the servers are doing; [`lock_file`] keeps what they offered, and [`lock`] is the
//! command for that file; [`admin`] is the address for operators.

mod admin;
mod check;
mod command;
mod credentials;
mod ending;
mod exchange_access;
mod file;
mod front_guard;
mod keys;
mod known_lists;
mod lines;
pub(crate) mod lock;
mod lock_file;
mod nesting;
mod operation;
mod own_urls;
mod page;
mod pending_sign_ins;
mod personal;
mod plan;
mod reload;
mod sign_in_access;

pub(crate) use command::{Up, run};
