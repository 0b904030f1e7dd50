//! `tools/call`.

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{CallToolOutcome, CallToolResult, revision::Raise};

use super::{
    Call, ToolOutput,
    builder::{Body, Subject, object},
    exchange::{Exchange, Read},
};
use crate::{CallError, Connection, link::Link, settings::OutputCheck};

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
        let call = Call::new(self.link(), METHOD, body, |exchange, raw| {
            read(exchange, &raw)
        });
        Call {
            connection: Some(self),
            ..call
        }
    }
}

/// Reads the result of a call that was a task.
pub(crate) fn read_output(
    link: &Link,
    tool: &str,
    raw: &RawValue,
) -> Result<ToolOutput, CallError> {
    let exchange = Exchange {
        link,
        method: METHOD,
        subject: tool,
    };
    match read(&exchange, raw)? {
        Read::Done(output) => Ok(output),
        Read::Asked(_) | Read::Task(_) => Err(exchange.malformed("a task returned no result")),
    }
}

fn read(exchange: &Exchange<'_>, raw: &RawValue) -> Result<Read<ToolOutput>, CallError> {
    let revision = exchange.link.revision();
    let result: CallToolResult = match exchange.parse(raw)? {
        CallToolOutcome::Complete(mut result) => {
            if !revision.is_modern() {
                result.raise(revision);
            }
            result
        }
        CallToolOutcome::InputRequired(asked) if revision.is_modern() => {
            return Ok(Read::Asked(asked));
        }
        CallToolOutcome::InputRequired(_) => {
            return Err(exchange.malformed("a session is asked by requests"));
        }
        CallToolOutcome::Task(task) => return Ok(Read::Task(task)),
    };
    if exchange.link.profile.settings.output == OutputCheck::Known {
        exchange.link.schemas.check(exchange.subject, &result)?;
    }
    Ok(Read::Done(ToolOutput::new(exchange.subject, result)))
}
