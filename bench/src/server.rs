//! The server under measurement.

fn main() {}
