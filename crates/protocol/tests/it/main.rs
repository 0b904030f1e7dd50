//! What this crate promises, checked from outside.

mod closed;
mod examples;
mod generator;
mod lowering;
mod methods;
mod outgoing;
mod round_trip;
mod sample;
mod schema;
mod spec;
