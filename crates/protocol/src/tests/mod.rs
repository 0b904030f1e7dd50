//! What this crate promises: that its types are the specification's, that what goes out to each
//! revision is in the revision's words, and that what comes in is read.
//!
//! These tests are inside of the crate because samples are struct literals that name every field.

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
