//! Reads `prefixItems`, `items`, `contains` and its counts, lengths, and `uniqueItems`. Draft-07
//! has a list in `items`, and `additionalItems`, instead of the first two.

use serde_json::{Map, Value};

use super::compiler::Compiler;
use crate::dialect::{Dialect, count};
use crate::node::{ArrayRules, Contains};

impl ArrayRules {
    pub(crate) fn read<'s>(
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Option<Box<Self>> {
        let (prefix, items) = match (compiler.dialect(), schema.get("items")) {
            (Dialect::Draft07, Some(Value::Array(list))) => {
                (Some(list), schema.get("additionalItems"))
            }
            (Dialect::Draft07, items) => (None, items),
            (Dialect::Draft202012, items) => {
                (schema.get("prefixItems").and_then(Value::as_array), items)
            }
        };
        let rules = Self {
            prefix: prefix
                .into_iter()
                .flatten()
                .map(|item| compiler.node(item))
                .collect(),
            items: items.map(|items| compiler.node(items)),
            contains: schema
                .get("contains")
                .map(|node| Contains::read(node, schema, compiler)),
            least: schema.get("minItems").and_then(count).unwrap_or(0),
            most: schema.get("maxItems").and_then(count),
            is_unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
        };
        let is_empty = rules.prefix.is_empty()
            && rules.items.is_none()
            && rules.contains.is_none()
            && rules.least == 0
            && rules.most.is_none()
            && !rules.is_unique;
        (!is_empty).then(|| Box::new(rules))
    }
}

impl Contains {
    fn read<'s>(
        node: &'s Value,
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Self {
        let knows_counts = compiler.dialect() == Dialect::Draft202012;
        let bound = |keyword: &str| schema.get(keyword).and_then(count).filter(|_| knows_counts);
        Self {
            node: compiler.node(node),
            least: bound("minContains").unwrap_or(1),
            most: bound("maxContains"),
        }
    }
}
