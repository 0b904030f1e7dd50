//! From a schema document to nodes: measured, indexed, compiled, and freed of references that go in
//! circles.

mod compiler;
mod cycle;
mod index;
pub(crate) mod pointer;

pub(crate) use compiler::{Compiled, Compiler, compile};
pub(crate) use index::{ResourceId, Target};
