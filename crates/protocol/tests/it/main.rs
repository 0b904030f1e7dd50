//! What this crate promises, checked from outside.

mod closed;
mod examples;
mod generator;
mod methods;
mod outgoing;
mod sample;
mod schema;
mod spec;
