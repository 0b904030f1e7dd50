//! The server, proved from outside: each test speaks to it in lines of JSON.

mod batch;
mod envelope;
mod eras;
mod extractors;
mod failures;
mod gate;
mod outcomes;
mod sample;
mod spec;
mod transcript;
mod wire;
