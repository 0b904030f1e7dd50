//! Reads `$ref`, `$dynamicRef`, `allOf`, `anyOf`, `oneOf`, `not`, `if`/`then`/`else` and
//! `dependentSchemas`.

use serde_json::{Map, Value};

use super::compiler::Compiler;
use super::index::Target;
use crate::dialect::Dialect;
use crate::error::SchemaError;
use crate::node::{InPlace, NodeId};

impl InPlace {
    pub(crate) fn read<'s>(
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Result<Box<[Self]>, SchemaError> {
        let mut found = Vec::new();
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            found.push(match compiler.target(reference)? {
                Target::Schema(schema) => Self::Reference(compiler.node(schema)),
                Target::Meta(dialect) => Self::MetaSchema(dialect),
            });
        }
        if compiler.is_only_reference(schema) {
            return Ok(found.into());
        }
        if compiler.dialect() == Dialect::Draft202012
            && let Some(reference) = schema.get("$dynamicRef").and_then(Value::as_str)
        {
            found.push(compiler.dynamic_reference(reference)?);
        }
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        let mut nodes = |list: &'s Vec<Value>| -> Box<[NodeId]> {
            list.iter().map(|schema| compiler.node(schema)).collect()
        };
        found.extend(list("allOf").map(&mut nodes).map(Self::AllOf));
        found.extend(list("anyOf").map(&mut nodes).map(Self::AnyOf));
        found.extend(list("oneOf").map(&mut nodes).map(Self::OneOf));
        found.extend(
            schema
                .get("not")
                .map(|schema| Self::Not(compiler.node(schema))),
        );
        if let Some(condition) = schema.get("if") {
            found.push(Self::If {
                condition: compiler.node(condition),
                then: schema.get("then").map(|schema| compiler.node(schema)),
                otherwise: schema.get("else").map(|schema| compiler.node(schema)),
            });
        }
        let dependent: Box<[(Box<str>, NodeId)]> = compiler
            .dependent_schemas(schema)
            .map(|(name, inner)| (name.as_str().into(), compiler.node(inner)))
            .collect();
        if !dependent.is_empty() {
            found.push(Self::Dependent(dependent));
        }
        Ok(found.into())
    }
}
