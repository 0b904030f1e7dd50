//! Tests the authorization server: its flows, and the faults that can be ordered.

mod assertions;
mod browser;
mod client_documents;
mod codes;
mod documents;
mod faults;
mod machines;
