//! Checks structured results against the output schema of their tool.

use std::sync::OnceLock;

use serde_json::Value;
use turnbuckle_protocol::CallToolResult;
use turnbuckle_schema::{Schema, SchemaError};

use super::arguments::Patterns;
use crate::{Failure, Fault};

/// Checks structured content against an output schema, unless the type already guarantees that it
/// matches.
pub(crate) struct OutputCheck {
    schema: Value,
    patterns: Patterns,
    compiled: OnceLock<Result<Schema, SchemaError>>,
}

impl OutputCheck {
    pub(crate) fn new(schema: Value) -> Self {
        Self {
            schema,
            patterns: Patterns::SOME,
            compiled: OnceLock::new(),
        }
    }

    pub(crate) fn schema(&self) -> &Value {
        &self.schema
    }

    pub(crate) fn compile(&self) -> Result<&Schema, &SchemaError> {
        self.compiled
            .get_or_init(|| self.patterns.compile(&self.schema))
            .as_ref()
    }

    /// tools: structured results MUST conform to the output schema.
    pub(crate) fn check(&self, result: &CallToolResult) -> Result<(), Failure> {
        if result.is_error == Some(true) {
            return Ok(());
        }
        let schema = self
            .compile()
            .map_err(|error| Fault::new(error.to_string()))?;
        let structured = result.structured_content.as_ref().ok_or_else(|| {
            Fault::new("the tool has an output schema but returned no structured content")
        })?;
        let value: Value = serde_json::from_str(structured.get()).map_err(Fault::new)?;
        schema.check(&value).map_err(|violations| {
            Failure::Fault(Fault::new(format!(
                "the structured content does not match the tool's output schema: {}",
                schema.explain(&violations)
            )))
        })
    }
}
