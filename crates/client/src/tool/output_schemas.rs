//! Whether tools return what they promise.
//!
//! The promise is the output schema in the list of tools, so it is known once they were listed. A
//! schema is compiled when its tool is first called.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use serde_json::Value;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{CallToolResult, Tool};
use turnbuckle_schema::Schema;

use crate::error::CallError;

/// How many schemas are kept for one server. Beyond that a tool is not checked: no model chooses
/// among more tools, and memory is not the server's to fill.
const MAX_SCHEMAS: usize = 10_000;

/// The output schemas of a server's tools, as far as they are known.
#[derive(Debug, Default)]
pub(crate) struct OutputSchemas {
    by_tool: Mutex<HashMap<String, Arc<OutputSchema>>>,
}

#[derive(Debug)]
struct OutputSchema {
    schema: Value,
    /// `None` if it cannot be used: a dialect that is not known, or a reference to elsewhere.
    compiled: OnceLock<Option<Schema>>,
}

impl OutputSchemas {
    /// Takes note of what a page of the list promises. The first page begins a new list.
    pub(crate) fn learn(&self, tools: &[Tool], page: usize) {
        let mut by_tool = self.by_tool.lock();
        if page == 0 {
            by_tool.clear();
        }
        for tool in tools {
            let Some(schema) = &tool.output_schema else {
                continue;
            };
            if by_tool.len() < MAX_SCHEMAS {
                let promise = OutputSchema {
                    schema: schema.clone(),
                    compiled: OnceLock::new(),
                };
                by_tool.insert(tool.name.clone(), Arc::new(promise));
            }
        }
    }

    /// Forgets everything: the list has changed.
    pub(crate) fn forget(&self) {
        self.by_tool.lock().clear();
    }

    /// Checks a result, if the tool's promise is known.
    pub(crate) fn check(&self, tool: &str, result: &CallToolResult) -> Result<(), CallError> {
        if result.is_error() {
            return Ok(());
        }
        let promise = self.by_tool.lock().get(tool).cloned();
        let Some(schema) = promise.as_ref().and_then(|promise| promise.compiled(tool)) else {
            return Ok(());
        };
        let Some(content) = &result.structured_content else {
            return Err(mismatch(
                tool,
                "",
                "structured content is missing".to_owned(),
            ));
        };
        let value: Value = serde_json::from_str(content.get())
            .map_err(|error| mismatch(tool, "", error.to_string()))?;
        let Err(violations) = schema.check(&value) else {
            return Ok(());
        };
        match violations.first() {
            Some(first) => {
                let problem = format!("expected {}, found {}", first.expected, first.found);
                Err(mismatch(tool, &first.pointer, problem))
            }
            None => Ok(()),
        }
    }
}

impl OutputSchema {
    fn compiled(&self, tool: &str) -> Option<&Schema> {
        let compiled = self.compiled.get_or_init(|| {
            Schema::compile(&self.schema)
                .inspect_err(|error| {
                    tracing::debug!(tool, %error, "its output cannot be checked");
                })
                .ok()
        });
        compiled.as_ref()
    }
}

fn mismatch(tool: &str, pointer: &str, problem: String) -> CallError {
    CallError::OutputMismatch {
        tool: tool.into(),
        pointer: pointer.into(),
        problem,
    }
}
