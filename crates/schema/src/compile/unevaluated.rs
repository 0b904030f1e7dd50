//! Reads `unevaluatedProperties` and `unevaluatedItems`.

use serde_json::{Map, Value};

use super::compiler::Compiler;
use crate::dialect::Dialect;
use crate::node::Unevaluated;

impl Unevaluated {
    pub(crate) fn read<'s>(
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Option<Box<Self>> {
        if compiler.dialect() != Dialect::Draft202012 {
            return None;
        }
        let mut node = |keyword: &str| schema.get(keyword).map(|inner| compiler.node(inner));
        let rules = Self {
            properties: node("unevaluatedProperties"),
            items: node("unevaluatedItems"),
        };
        (rules.properties.is_some() || rules.items.is_some()).then(|| Box::new(rules))
    }
}
