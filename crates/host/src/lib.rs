//! Servers by name.
//!
//! People have lists of servers already: in the files of their editors and assistants. This room
//! reads them as they are, says what is wrong with an entry without giving up the others, and
//! turns an entry into what has to be started or connected to.

pub mod config;
