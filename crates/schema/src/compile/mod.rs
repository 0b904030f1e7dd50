//! Compiles a schema document to nodes: measures it, indexes it, compiles it, and rejects cyclic references.

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
