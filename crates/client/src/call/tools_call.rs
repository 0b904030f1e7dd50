//! `tools/call`.

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{CallToolOutcome, CallToolResult, revision::Raise};

use super::{
    AnswerReader, Call, Parsed,
    builder::{Body, Subject, object},
};
use crate::{
    connection::Connection, error::CallError, link::Link, profile::OutputCheck, tool::ToolOutput,
};

const METHOD: &str = "tools/call";

impl Connection {
    /// Calls a tool. The arguments are anything that serialises to an object; `()` for none.
    ///
    /// A tool that failed is a result too: see [`is_error`](turnbuckle_protocol::CallToolResult::is_error), or
    /// [`ToolOutput::parse`], which makes it an error.
    pub fn call(&self, tool: impl Into<String>, arguments: impl Serialize) -> Call<'_, ToolOutput> {
        let body = object(METHOD, &arguments)
            .map(|arguments| Body::Subject(Subject::named(tool.into(), arguments)));
        let call = Call::new(self.link(), METHOD, body, |reader, raw| read(reader, &raw));
        Call {
            connection: Some(self),
            ..call
        }
    }
}

/// Reads the result of a call that was a task.
pub(super) fn read_output(
    link: &Link,
    tool: &str,
    raw: &RawValue,
) -> Result<ToolOutput, CallError> {
    let reader = AnswerReader {
        link,
        method: METHOD,
        subject: tool,
    };
    read(&reader, raw)?.done(&reader)
}

fn read(reader: &AnswerReader<'_>, raw: &RawValue) -> Result<Parsed<ToolOutput>, CallError> {
    let revision = reader.link.revision();
    let result: CallToolResult = match reader.parse(raw)? {
        CallToolOutcome::Complete(mut result) => {
            if !revision.is_modern() {
                result.raise(revision);
            }
            result
        }
        CallToolOutcome::InputRequired(asked) if revision.is_modern() => {
            return Ok(Parsed::Asked(asked));
        }
        CallToolOutcome::InputRequired(_) => {
            return Err(reader.malformed("a session is asked by requests"));
        }
        CallToolOutcome::Task(task) => return Ok(Parsed::Task(task)),
        _ => return Err(reader.malformed("its type is not known here")),
    };
    if reader.link.profile().settings.output == OutputCheck::Known {
        reader.link.tools.check(reader.subject, &result)?;
    }
    Ok(Parsed::Done(ToolOutput::new(reader.subject, result)))
}
