//! What the list of tools says that matters for sending calls: which arguments are repeated in
//! headers, and which calls may run twice.

use std::{collections::HashMap, sync::Arc};

use serde::Deserialize;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{Tool, http::ParamHeaders};

use crate::{CallError, Connection, link::Link};

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
pub(crate) struct KnownTools {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    by_name: HashMap<String, Note>,
    excluded: Vec<ExcludedTool>,
}

#[derive(Debug)]
struct Note {
    params: Arc<ParamHeaders>,
    is_repeatable: bool,
}

impl Connection {
    /// The tools that the last list had and that were left out, because what they want repeated in
    /// headers cannot be. Only servers at a URL have such.
    pub fn excluded_tools(&self) -> Vec<ExcludedTool> {
        self.link().tools.inner.lock().excluded.clone()
    }
}

impl Link {
    /// Takes note of a page of the list, and says which of its tools can be used.
    pub(crate) fn admit_tool(&self, tool: &Tool) -> bool {
        if self.wire.http().is_none() {
            return true;
        }
        let admitted = self.tools.admit(tool, self.revision().is_modern());
        if let Err(reason) = &admitted {
            tracing::warn!(
                server = &**self.server(),
                tool = tool.name,
                reason,
                "left a tool out of the list"
            );
        }
        admitted.is_ok()
    }

    /// Whether an error says that the list of tools which a call was made by is out of date.
    pub(crate) fn is_outdated(&self, method: &str, error: &CallError) -> bool {
        method == "tools/call"
            && self.wire.http().is_some()
            && error.rejection().is_some_and(|error| {
                error.code == turnbuckle_protocol::error::code::HEADER_MISMATCH
            })
    }
}

impl KnownTools {
    /// Forgets everything: another list begins.
    pub(crate) fn forget(&self) {
        *self.inner.lock() = Inner::default();
    }

    /// Takes note of a tool.
    fn admit(&self, tool: &Tool, is_modern: bool) -> Result<(), String> {
        let mut inner = self.inner.lock();
        let params = if is_modern {
            ParamHeaders::of(&tool.input_schema)
        } else {
            Ok(ParamHeaders::default())
        };
        let params = match params {
            Ok(params) => params,
            Err(fault) => {
                let reason = fault.to_string();
                if inner.excluded.len() < MAX_TOOLS {
                    inner.excluded.push(ExcludedTool {
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
        if inner.by_name.len() < MAX_TOOLS {
            let note = Note {
                params: Arc::new(params),
                is_repeatable,
            };
            inner.by_name.insert(tool.name.clone(), note);
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
        let inner = self.inner.lock();
        let Some(note) = inner.by_name.get(tool) else {
            let excluded = inner.excluded.iter().find(|other| other.name == tool);
            return excluded.cloned().map_or(Ok(None), Err);
        };
        Ok((!note.params.is_empty()).then(|| note.params.clone()))
    }

    /// Whether a request does no harm if it runs twice.
    pub(super) fn is_repeatable(&self, method: &str, message: &[u8]) -> bool {
        match method {
            "tools/call" => tool_of(message).is_some_and(|tool| {
                let inner = self.inner.lock();
                inner
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
    struct Peek {
        params: Params,
    }

    #[derive(Deserialize)]
    struct Params {
        name: String,
    }

    let peek: Peek = serde_json::from_slice(message).ok()?;
    Some(peek.params.name)
}
