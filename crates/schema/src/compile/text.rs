//! Reads `minLength`, `maxLength`, `pattern` and `format`.

use serde_json::{Map, Value};

use super::compiler::Compiler;
use crate::dialect::count;
use crate::error::SchemaError;
use crate::format::Format;
use crate::node::TextRules;

impl TextRules {
    pub(crate) fn read<'s>(
        schema: &'s Map<String, Value>,
        compiler: &mut Compiler<'s>,
    ) -> Result<Option<Box<Self>>, SchemaError> {
        let pattern = match schema.get("pattern").and_then(Value::as_str) {
            Some(source) => Some(compiler.pattern(source)?),
            None => None,
        };
        let rules = Self {
            least: schema.get("minLength").and_then(count).unwrap_or(0),
            most: schema.get("maxLength").and_then(count),
            pattern,
            format: schema
                .get("format")
                .and_then(Value::as_str)
                .and_then(Format::named),
            formats: compiler.formats(),
        };
        let is_empty = rules.least == 0
            && rules.most.is_none()
            && rules.pattern.is_none()
            && rules.format.is_none();
        Ok((!is_empty).then(|| Box::new(rules)))
    }
}
