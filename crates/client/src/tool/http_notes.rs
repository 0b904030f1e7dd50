//! Facts from the list of tools that calls over HTTP need.

use turnbuckle_protocol::{Revision, Tool, http::ParamHeaders};

/// A tool that was left out of a list, and the reason. See
/// [`Connection::excluded_tools`](crate::Connection::excluded_tools).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExcludedTool {
    /// The name of the tool.
    pub name: String,
    /// The rule that its definition breaks.
    pub reason: String,
}

/// The facts about one tool.
#[derive(Debug)]
pub(crate) struct HttpNotes {
    /// The arguments that are repeated in headers.
    pub(crate) headers: ParamHeaders,
    /// Whether a call can safely run twice.
    pub(super) is_repeatable: bool,
}

impl HttpNotes {
    /// Reads the definition of a tool. Fails if the tool cannot be called.
    pub(super) fn of(tool: &Tool, revision: Revision) -> Result<Self, ExcludedTool> {
        let headers = if revision.rules().mirrored_headers {
            ParamHeaders::of(&tool.input_schema)
        } else {
            Ok(ParamHeaders::default())
        };
        let headers = headers.map_err(|fault| ExcludedTool {
            name: tool.name.clone(),
            reason: fault.to_string(),
        })?;
        let is_repeatable = tool.annotations.as_ref().is_some_and(|hints| {
            hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
        });
        Ok(Self {
            headers,
            is_repeatable,
        })
    }
}
