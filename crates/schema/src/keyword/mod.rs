//! The keywords, by what they look at. Each file reads its keywords from a schema into rules, and
//! checks a value against the rules.

mod array;
mod in_place;
mod number;
mod object;
mod text;
mod unevaluated;

pub(crate) use array::ArrayRules;
pub(crate) use in_place::InPlace;
pub(crate) use number::NumberRules;
pub(crate) use object::ObjectRules;
pub(crate) use text::TextRules;
pub(crate) use unevaluated::Unevaluated;
