//! A compiled schema: a list of nodes, one for each subschema, with references as numbers. The rules of a node
//! are in separate files for each kind of value.

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
