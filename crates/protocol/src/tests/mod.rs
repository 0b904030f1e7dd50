//! The promises of this crate: its types are those of the specification, messages to each revision have
//! only its members, and incoming messages can be read.
//!
//! These tests are inside the crate because samples are struct literals that name every field.

mod closed;
mod examples;
mod facts;
mod generator;
mod lowering;
mod methods;
mod origin;
mod ours;
mod outgoing;
mod prose;
mod round_trip;
mod sample;
mod schema;
mod spec;
