//! The state machines against transcripts and models.

mod lifecycle;
mod probe;
mod probe_always_ends;
mod requests;
mod requests_model;
mod round_asks;
mod round_seal;
