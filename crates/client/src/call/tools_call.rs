//! `tools/call`.

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{CallToolOutcome, CallToolResult, revision::Raise};

use super::{
    Call, ToolOutput,
    builder::{Body, Subject, object},
    exchange::{Exchange, Read},
};
use crate::{CallError, Connection, settings::OutputCheck};

const METHOD: &str = "tools/call";

impl Connection {
    /// Calls a tool. The arguments are anything that serialises to an object; `()` for none.
    ///
    /// A tool that failed is a result too: see [`is_error`](turnbuckle_protocol::CallToolResult::is_error), or
    /// [`ToolOutput::parse`], which makes it an error.
    pub fn call(&self, tool: impl Into<String>, arguments: impl Serialize) -> Call<'_, ToolOutput> {
        let name = Some(tool.into());
        let body = object(METHOD, &arguments).map(|arguments| {
            Body::Subject(Subject {
                name,
                arguments,
                ..Subject::default()
            })
        });
        Call::new(self.link(), METHOD, body, |exchange, raw| {
            read(exchange, &raw)
        })
    }
}

fn read(exchange: &Exchange<'_>, raw: &RawValue) -> Result<Read<ToolOutput>, CallError> {
    let result: CallToolResult = if exchange.link.revision().is_modern() {
        match exchange.parse(raw)? {
            CallToolOutcome::Complete(result) => result,
            CallToolOutcome::InputRequired(asked) => return Ok(Read::Asked(asked)),
            // tasks: a server MUST NOT make a task for a client that did not declare them.
            CallToolOutcome::Task(_) => {
                return Err(exchange.malformed("the call became a task, which nobody asked for"));
            }
        }
    } else {
        let mut result: CallToolResult = exchange.parse(raw)?;
        result.raise(exchange.link.revision());
        result
    };
    if exchange.link.profile.settings.output == OutputCheck::Known {
        exchange.link.schemas.check(exchange.subject, &result)?;
    }
    Ok(Read::Done(ToolOutput::new(exchange.subject, result)))
}
