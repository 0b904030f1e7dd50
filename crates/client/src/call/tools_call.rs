//! `tools/call`.

use serde::Serialize;
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    CallToolOutcome, CallToolResult,
    envelope::{Edit, Raw},
    revision::Raise,
};

use super::{
    AnswerReader, ClientCall, Parsed,
    arguments::Arguments,
    builder::{Body, Subject},
};
use crate::{
    connection::Connection, error::CallError, link::Link, profile::OutputCheck, tool::ToolOutput,
};

const METHOD: &str = "tools/call";

impl Connection {
    /// Calls a tool. The arguments are a struct, a map, pairs of names and values, or JSON: anything
    /// that serialises to an object or to a list of pairs. Use `()` for no arguments. A string, a
    /// number or a boolean is used as the value of the tool's only argument; the tools are listed to
    /// learn its name. For any other list the call fails with [`CallError::Unwritable`], and nothing is
    /// sent.
    ///
    /// A tool that failed returns a result, too, with
    /// [`is_error`](turnbuckle_protocol::CallToolResult::is_error) set. [`ToolOutput::ok`] and
    /// [`ToolOutput::parse`] turn it into an error.
    ///
    /// ```no_run
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// let output = server.call("greet", [("name", "Ada")]).await?.ok()?;
    /// println!("{}", output.text());
    /// // Values of different types: a tuple of pairs.
    /// let sum: i64 = server.call("add", (("a", 2), ("unit", "m"))).await?.parse()?;
    /// # Ok(()) }
    /// ```
    ///
    /// A call that takes long may become a task at the server. Awaiting the call then waits for the
    /// task. Use [`ClientCall::task`] to get the task instead of its result.
    ///
    /// # Errors
    /// [`CallError::Rejected`] for an unknown tool or arguments that the server refuses,
    /// [`CallError::OutputMismatch`] for a result that does not match the tool's output schema, and the
    /// other variants of [`CallError`].
    pub fn call(
        &self,
        tool: impl Into<String>,
        arguments: impl Serialize,
    ) -> ClientCall<'_, ToolOutput> {
        let tool = tool.into();
        let subject = match Arguments::of(&arguments) {
            Ok(Arguments::Absent) => Ok(Subject::named(tool, None)),
            Ok(Arguments::Object(object)) => Ok(Subject::named(tool, Some(object))),
            Ok(Arguments::Plain(value)) => Ok(Subject::with_plain(tool, value)),
            Err(source) => Err(CallError::unwritable(METHOD, source)),
        };
        let body = subject.map(Body::Subject);
        let call = ClientCall::new(self.link(), METHOD, body, |reader, raw| read(reader, &raw));
        ClientCall {
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

/// Reads the result of a call. In a session, members that only have a meaning in 2026-07-28 are read as
/// unknown members.
fn outcome(reader: &AnswerReader<'_>, raw: &RawValue) -> Result<CallToolOutcome, CallError> {
    if reader.link.revision().is_modern() {
        return reader.parse(raw);
    }
    let members = Raw::from(raw);
    if let Ok(outcome) = serde_json::from_str(raw.get()) {
        let is_asked = matches!(outcome, CallToolOutcome::InputRequired(_));
        if !(is_asked && members.member("content").is_some()) {
            return Ok(outcome);
        }
    }
    let mut edit = Edit::new(members);
    for name in ["resultType", "requestState", "inputRequests"] {
        edit = edit.drop(&[name]);
    }
    // If there is a result, a task without an id is ignored.
    let is_no_task = |task: Raw<'_>| {
        let has_result = members.member("content").is_some();
        !task.is_object() || (has_result && task.member("taskId").is_none())
    };
    if members.member("task").is_some_and(is_no_task) {
        edit = edit.drop(&["task"]);
    }
    match edit.finish() {
        Ok(plain) => reader.parse(plain.raw().value()),
        Err(_) => reader.parse(raw),
    }
}

fn read(reader: &AnswerReader<'_>, raw: &RawValue) -> Result<Parsed<ToolOutput>, CallError> {
    let revision = reader.link.revision();
    let result: CallToolResult = match outcome(reader, raw)? {
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
            return Err(reader.malformed("`input_required` is not a result of this revision"));
        }
        CallToolOutcome::Task(task) => return Ok(Parsed::Task(task)),
        _ => return Err(reader.malformed("its `resultType` is unknown")),
    };
    let check = reader.link.profile().settings.output;
    let broken = match check {
        OutputCheck::Skip => None,
        _ => reader.link.tools.check(reader.subject, &result).err(),
    };
    let output = ToolOutput::new(reader.subject, result);
    match broken {
        None => Ok(Parsed::Done(output)),
        Some(mismatch) if check == OutputCheck::Warn => {
            tracing::warn!(server = &**reader.link.server(), %mismatch);
            Ok(Parsed::Done(output.with_mismatch(&mismatch)))
        }
        Some(mismatch) => Err(mismatch),
    }
}
