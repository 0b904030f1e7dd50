//! Reads `properties`, `patternProperties`, `additionalProperties`, `propertyNames`, `required`,
//! `dependentRequired` and the counts.

use serde_json::{Map, Value};

use super::compiler::Compiler;
use crate::dialect::count;
use crate::error::SchemaError;
use crate::node::{Known, ObjectRules, order};

impl ObjectRules {
    pub(crate) fn read<'s>(
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Result<Option<Box<Self>>, SchemaError> {
        let members = |keyword: &str| {
            schema
                .get(keyword)
                .and_then(Value::as_object)
                .into_iter()
                .flatten()
        };
        let mut required: Vec<Box<str>> = Vec::new();
        for name in strings(schema.get("required")) {
            if !required.contains(&name) {
                required.push(name);
            }
        }
        let mut patterns = Vec::new();
        for (source, inner) in members("patternProperties") {
            patterns.push((compiler.pattern(source)?, compiler.node(inner)));
        }
        let declared = members("properties")
            .map(|(name, _)| name.as_str().into())
            .collect();
        let rules = Self {
            known: known(members("properties"), &required, compiler),
            declared,
            required: required.into(),
            patterns: patterns.into(),
            additional: schema
                .get("additionalProperties")
                .map(|inner| compiler.node(inner)),
            property_names: schema
                .get("propertyNames")
                .map(|inner| compiler.node(inner)),
            dependent_required: compiler
                .dependent_names(schema)
                .map(|(name, needed)| (name.as_str().into(), strings(Some(needed)).collect()))
                .collect(),
            least: schema.get("minProperties").and_then(count).unwrap_or(0),
            most: schema.get("maxProperties").and_then(count),
        };
        Ok((!rules.is_empty()).then(|| Box::new(rules)))
    }
}

fn known<'s>(
    properties: impl Iterator<Item = (&'s String, &'s Value)>,
    required: &[Box<str>],
    compiler: &mut Compiler<'s>,
) -> Box<[Known]> {
    let mut names: Vec<Known> = properties
        .map(|(name, inner)| Known {
            name: name.as_str().into(),
            schema: Some(compiler.node(inner)),
            is_required: false,
        })
        .collect();
    names.sort_by(|left, right| order(&left.name, &right.name));
    let mut strangers = Vec::new();
    for name in required {
        match names.binary_search_by(|known| order(&known.name, name)) {
            Ok(position) => names[position].is_required = true,
            Err(_) => {
                strangers.push(Known {
                    name: name.clone(),
                    schema: None,
                    is_required: true,
                });
            }
        }
    }
    names.extend(strangers);
    names.sort_by(|left, right| order(&left.name, &right.name));
    names.into()
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = Box<str>> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(Box::from)
}
