//! A schema after compilation: one node for each subschema, in one list, with references as
//! numbers. The rules of a node are in files by the kind of value that they look at.

mod array;
mod id;
mod in_place;
mod number;
mod object;
mod subschema;
mod text;
mod unevaluated;

pub(crate) use array::{ArrayRules, Contains};
pub(crate) use id::{NodeId, ResourceId};
pub(crate) use in_place::InPlace;
pub(crate) use number::{Bound, NumberRules};
pub(crate) use object::{Known, ObjectRules, order};
pub(crate) use subschema::Node;
pub(crate) use text::TextRules;
pub(crate) use unevaluated::Unevaluated;
