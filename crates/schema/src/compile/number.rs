//! Reads `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`.

use serde_json::{Map, Value};

use crate::node::{Bound, NumberRules};
use crate::number::{Decimal, Num};
use crate::violation::Keyword;

impl NumberRules {
    pub(crate) fn read(schema: &Map<String, Value>) -> Option<Box<Self>> {
        let bound = |keyword: Keyword| {
            let written = schema.get(keyword.as_str())?.as_number()?.clone();
            Some(Bound {
                keyword,
                limit: Num::of(&written),
                written,
            })
        };
        let bounds: Box<[Bound]> = [
            Keyword::Minimum,
            Keyword::ExclusiveMinimum,
            Keyword::Maximum,
            Keyword::ExclusiveMaximum,
        ]
        .into_iter()
        .filter_map(bound)
        .collect();
        let multiple_of = schema
            .get("multipleOf")
            .and_then(Value::as_number)
            .and_then(|written| Some((Decimal::of(Num::of(written))?, written.clone())));
        let is_empty = bounds.is_empty() && multiple_of.is_none();
        (!is_empty).then(|| {
            Box::new(Self {
                bounds,
                multiple_of,
            })
        })
    }
}
