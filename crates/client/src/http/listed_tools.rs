//! What the list of tools says that matters for sending calls: which arguments are repeated in
//! headers, and which calls may run twice.

use std::{collections::HashMap, sync::Arc};

use serde::Deserialize;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{Tool, http::ParamHeaders};

/// How many tools are taken note of. See the limit on output schemas.
const MAX_TOOLS: usize = 10_000;

/// A tool that was left out of a list, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExcludedTool {
    /// Its name.
    pub name: String,
    /// Which rule it breaks.
    pub reason: String,
}

/// The tools of a server, as far as they were listed.
#[derive(Debug, Default)]
pub(crate) struct ListedTools {
    notes: Mutex<ToolNotes>,
}

#[derive(Debug, Default)]
struct ToolNotes {
    by_name: HashMap<String, ToolNote>,
    excluded: Vec<ExcludedTool>,
}

#[derive(Debug)]
struct ToolNote {
    params: Arc<ParamHeaders>,
    is_repeatable: bool,
}

impl ListedTools {
    /// Forgets everything: another list begins.
    pub(crate) fn forget(&self) {
        *self.notes.lock() = ToolNotes::default();
    }

    /// The tools that the last list had and that were left out.
    pub(crate) fn excluded(&self) -> Vec<ExcludedTool> {
        self.notes.lock().excluded.clone()
    }

    /// Takes note of a tool, unless it cannot be called.
    pub(crate) fn admit(&self, tool: &Tool, is_modern: bool) -> Result<(), String> {
        let mut notes = self.notes.lock();
        let params = if is_modern {
            ParamHeaders::of(&tool.input_schema)
        } else {
            Ok(ParamHeaders::default())
        };
        let params = match params {
            Ok(params) => params,
            Err(fault) => {
                let reason = fault.to_string();
                if notes.excluded.len() < MAX_TOOLS {
                    notes.excluded.push(ExcludedTool {
                        name: tool.name.clone(),
                        reason: reason.clone(),
                    });
                }
                return Err(reason);
            }
        };
        let hints = tool.annotations.as_ref();
        let is_repeatable = hints.is_some_and(|hints| {
            hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
        });
        if notes.by_name.len() < MAX_TOOLS {
            let note = ToolNote {
                params: Arc::new(params),
                is_repeatable,
            };
            notes.by_name.insert(tool.name.clone(), note);
        }
        Ok(())
    }

    /// Which arguments of a tool are repeated in headers; `None` if none are known.
    ///
    /// # Errors
    /// If the tool was left out of the list. streamable-http: such a definition MUST be rejected,
    /// and what it wants repeated cannot be, so a call by its name would be refused at best, and
    /// led astray by what stands before the server at worst.
    pub(super) fn params(&self, tool: &str) -> Result<Option<Arc<ParamHeaders>>, ExcludedTool> {
        let notes = self.notes.lock();
        let Some(note) = notes.by_name.get(tool) else {
            let excluded = notes.excluded.iter().find(|other| other.name == tool);
            return excluded.cloned().map_or(Ok(None), Err);
        };
        Ok((!note.params.is_empty()).then(|| note.params.clone()))
    }

    /// Whether a request does no harm if it runs twice.
    pub(crate) fn is_repeatable(&self, method: &str, message: &[u8]) -> bool {
        match method {
            "tools/call" => tool_of(message).is_some_and(|tool| {
                let notes = self.notes.lock();
                notes
                    .by_name
                    .get(&tool)
                    .is_some_and(|note| note.is_repeatable)
            }),
            "tools/list"
            | "prompts/list"
            | "prompts/get"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "completion/complete"
            | "logging/setLevel"
            | "tasks/get"
            | "tasks/list"
            | "ping" => true,
            _ => false,
        }
    }
}

fn tool_of(message: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct ToolCall {
        params: ToolName,
    }

    #[derive(Deserialize)]
    struct ToolName {
        name: String,
    }

    let call: ToolCall = serde_json::from_slice(message).ok()?;
    Some(call.params.name)
}
