//! Facts from the list of tools that calls over HTTP need.

use turnbuckle_protocol::{Revision, Tool, http::ParamHeaders};

/// A tool that was left out of a list, and the reason. See
/// [`Connection::excluded_tools`](crate::Connection::excluded_tools).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExcludedTool {
    /// Its name.
    pub name: String,
    /// Which rule it breaks.
    pub reason: String,
}

/// The facts about one tool.
#[derive(Debug)]
pub(crate) struct HttpNotes {
    /// Which of its arguments are repeated in headers.
    pub(crate) headers: ParamHeaders,
    /// Whether it does no harm if a call runs twice.
    pub(super) is_repeatable: bool,
}

impl HttpNotes {
    /// Reads a tool, unless it cannot be called.
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
