//! Each example is a file of its own beside this one; `cargo run -p examples --example NAME` runs it.
