//! From a schema document to nodes: measured, indexed, compiled, and freed of references that go in
//! circles.

mod array;
mod compiler;
mod cycle;
mod in_place;
mod index;
mod number;
mod object;
mod text;
mod unevaluated;

pub(crate) use compiler::{Compiled, compile};
