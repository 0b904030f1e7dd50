//! Checks results against the output schema of their tool.
//!
//! The output schema is a part of the list of tools, so it is known once the tools were listed. A
//! schema is compiled when its tool is first called.

use std::sync::OnceLock;

use serde_json::Value;
use turnbuckle_protocol::CallToolResult;
use turnbuckle_schema::Schema;

use crate::error::CallError;

/// The output schema of a tool.
#[derive(Debug)]
pub(super) struct OutputSchema {
    schema: Value,
    /// `None` if the schema cannot be used: an unknown dialect, or a reference to another document.
    compiled: OnceLock<Option<Schema>>,
}

impl OutputSchema {
    pub(super) fn new(schema: Value) -> Self {
        Self {
            schema,
            compiled: OnceLock::new(),
        }
    }

    /// Checks a result that is not an error.
    pub(super) fn check(&self, tool: &str, result: &CallToolResult) -> Result<(), CallError> {
        let Some(schema) = self.compiled(tool) else {
            return Ok(());
        };
        let mismatch = |pointer: &str, problem| CallError::OutputMismatch {
            tool: tool.into(),
            pointer: pointer.into(),
            problem,
        };
        let Some(content) = &result.structured_content else {
            return Err(mismatch("", "structured content is missing".to_owned()));
        };
        let value: Value =
            serde_json::from_str(content.get()).map_err(|error| mismatch("", error.to_string()))?;
        let violations = schema.check(&value).err().unwrap_or_default();
        violations.first().map_or(Ok(()), |first| {
            let problem = format!("expected {}, found {}", first.expected, first.found);
            Err(mismatch(&first.pointer, problem))
        })
    }

    fn compiled(&self, tool: &str) -> Option<&Schema> {
        let compiled = self.compiled.get_or_init(|| {
            Schema::compile(&self.schema)
                .inspect_err(|error| {
                    tracing::debug!(tool, %error, "cannot use the output schema; results are not checked");
                })
                .ok()
        });
        compiled.as_ref()
    }
}
