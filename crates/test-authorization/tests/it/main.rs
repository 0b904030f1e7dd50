//! The authorization server: its flows, and what it gets wrong when told to.

mod assertions;
mod browser;
mod client_documents;
mod codes;
mod documents;
mod faults;
mod machines;
