//! `turnbuckle up`: every server at one endpoint, for clients of every revision.
//!
//! [`command`] reads the command line and serves; [`plan`] finds the servers; [`mod@file`] reads the settings in
//! `turnbuckle.toml` besides how servers are started; [`reload`] watches for changes; [`lines`] reports the
//! states of servers; [`lock_file`] opens the lock file, and [`lock`] is the command for that file; [`admin`]
//! is the address for operators; [`withheld`] says which variables servers do not inherit.

mod admin;
mod check;
mod command;
mod credentials;
mod ending;
mod exchange_access;
mod file;
mod found;
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
mod used_files;
mod withheld;
mod written;

pub(crate) use command::{Up, run};
