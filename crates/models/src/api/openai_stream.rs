//! Assembles a chat completion from its chunks.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use turnbuckle_protocol::{SamplingContent, StopReason};

use super::reader::{Assembly, Fault, MAX_ANSWER, reported};
use crate::format::{Answer, ToolList, Usage, openai_arguments, openai_stop_reason};
use crate::model::Delta;

/// At most 256 calls in one answer. A model that writes more does not stop by itself.
const MAX_CALLS: usize = 256;

/// Numbers for calls that get no id from their server.
static UNNAMED: AtomicU64 = AtomicU64::new(1);

pub(super) struct Chunks {
    tools: Arc<ToolList>,
    model: String,
    text: String,
    calls: Vec<CallSoFar>,
    stop: Option<StopReason>,
    usage: Usage,
    bytes: usize,
}

#[derive(Default)]
struct CallSoFar {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    is_told: bool,
}

impl Chunks {
    pub(super) fn new(model: &str, tools: Arc<ToolList>) -> Self {
        Self {
            tools,
            model: model.to_owned(),
            text: String::new(),
            calls: Vec::new(),
            stop: None,
            usage: Usage::default(),
            bytes: 0,
        }
    }

    fn call(
        &mut self,
        part: &Value,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<(), Fault> {
        let index = part.get("index").and_then(Value::as_u64);
        let text = |pointer: &str| part.pointer(pointer).and_then(Value::as_str);
        let id = text("/id").unwrap_or_default();
        let is_named = text("/function/name").is_some_and(|name| !name.is_empty());
        let at = self.place(index, id, is_named)?;
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if let Some(name) = text("/function/name")
            && !call.is_told
            && !name.is_empty()
        {
            name.clone_into(&mut call.name);
            call.is_told = true;
            let name = self.tools.names().host_name(name);
            report(Delta::Call { index: at, name });
        }
        if let Some(more) = openai_arguments(part)
            && !more.is_empty()
        {
            self.calls[at].arguments.push_str(&more);
            report(Delta::Arguments {
                index: at,
                text: &more,
            });
        }
        Ok(())
    }

    /// The position of the call that a chunk belongs to. Some servers send no index, or the same
    /// one for all calls; then a new id begins a new call. Without ids, a name begins a new call.
    fn place(&mut self, index: Option<u64>, id: &str, is_named: bool) -> Result<usize, Fault> {
        let calls = &self.calls;
        let found = match index {
            Some(index) => calls
                .iter()
                .rposition(|call| call.index == Some(index))
                .filter(|at| id.is_empty() || [id, ""].contains(&calls[*at].id.as_str())),
            None if id.is_empty() => calls
                .len()
                .checked_sub(1)
                .filter(|at| !(is_named && calls[*at].is_told)),
            None => calls.iter().position(|call| call.id == id),
        };
        if let Some(at) = found {
            return Ok(at);
        }
        if self.calls.len() == MAX_CALLS {
            let reason = format!("it has more than {MAX_CALLS} tool calls");
            return Err(Fault::BrokenOff(reason));
        }
        self.calls.push(CallSoFar {
            index,
            ..CallSoFar::default()
        });
        Ok(self.calls.len() - 1)
    }
}

impl Assembly for Chunks {
    fn take(
        &mut self,
        data: &str,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<bool, Fault> {
        if data.trim() == "[DONE]" {
            return Ok(true);
        }
        if data.is_empty() {
            return Ok(false);
        }
        self.bytes += data.len();
        if self.bytes > MAX_ANSWER {
            return Err(Fault::TooLong);
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|error| Fault::BrokenOff(format!("an event is not JSON: {error}")))?;
        if let Some(fault) = reported(&chunk) {
            return Err(fault);
        }
        if let Some(model) = chunk.get("model").and_then(Value::as_str) {
            model.clone_into(&mut self.model);
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
            self.usage = Usage::new(count("prompt_tokens"), count("completion_tokens"));
        }
        let Some(choice) = chunk.pointer("/choices/0") else {
            return Ok(false);
        };
        for member in ["content", "refusal"] {
            let text = choice
                .get("delta")
                .and_then(|delta| delta.get(member)?.as_str());
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                self.text.push_str(text);
                report(Delta::Text(text));
            }
        }
        let calls = choice
            .pointer("/delta/tool_calls")
            .and_then(Value::as_array);
        for part in calls.into_iter().flatten() {
            self.call(part, report)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.stop = Some(openai_stop_reason(reason));
        }
        Ok(false)
    }

    fn finish(self) -> Result<Answer, Fault> {
        let Some(stop) = self.stop else {
            let reason = "the stream ended without a `finish_reason`";
            return Err(Fault::BrokenOff(reason.to_owned()));
        };
        let mut content = Vec::new();
        if !self.text.is_empty() {
            content.push(SamplingContent::text(self.text));
        }
        // Some servers send `stop` although there are calls.
        let stop = if self.calls.is_empty() || stop == StopReason::MaxTokens {
            stop
        } else {
            StopReason::ToolUse
        };
        let mut ids = HashSet::new();
        for mut call in self.calls {
            // Results are matched by their ids, so ids must be unique.
            if call.id.is_empty() || !ids.insert(call.id.clone()) {
                call.id = format!("call_{}", UNNAMED.fetch_add(1, Ordering::Relaxed));
            }
            let call = self
                .tools
                .call_of_text(&call.id, &call.name, &call.arguments);
            content.push(SamplingContent::ToolUse(call));
        }
        Ok(Answer::new(&self.model, content, stop, self.usage))
    }
}
