//! Rules for numbers: `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`.

use serde_json::Number;

use crate::number::{Decimal, Num};
use crate::violation::Keyword;

/// Every bound in the schema, each with the number as written.
#[derive(Debug)]
pub(crate) struct NumberRules {
    pub(crate) bounds: Box<[Bound]>,
    pub(crate) multiple_of: Option<(Decimal, Number)>,
}

#[derive(Debug)]
pub(crate) struct Bound {
    pub(crate) keyword: Keyword,
    pub(crate) limit: Num,
    pub(crate) written: Number,
}

impl NumberRules {
    pub(crate) fn multiple_of(&self) -> Option<&Number> {
        self.multiple_of.as_ref().map(|(_, written)| written)
    }
}
