//! Assembles a message of Anthropic from its events.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use turnbuckle_protocol::{SamplingContent, StopReason};

use super::reader::{Assembly, Fault, MAX_ANSWER, reported};
use crate::format::{Answer, ToolList, Usage, anthropic_stop_reason};
use crate::model::Delta;

/// At most 1,024 blocks in one answer.
const MAX_BLOCKS: usize = 1024;

pub(super) struct Events {
    tools: Arc<ToolList>,
    model: String,
    blocks: BTreeMap<u64, Block>,
    stop: Option<StopReason>,
    usage: Usage,
    has_ended: bool,
    bytes: usize,
}

enum Block {
    Text(String),
    Call {
        index: usize,
        id: String,
        name: String,
        arguments: String,
    },
    /// Thinking, and other blocks that are not part of the conversation.
    Other,
}

impl Events {
    pub(super) fn new(model: &str, tools: Arc<ToolList>) -> Self {
        Self {
            tools,
            model: model.to_owned(),
            blocks: BTreeMap::new(),
            stop: None,
            usage: Usage::default(),
            has_ended: false,
            bytes: 0,
        }
    }

    fn start(
        &mut self,
        event: &Value,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<(), Fault> {
        let at = index(event)?;
        if self.blocks.len() == MAX_BLOCKS {
            let reason = format!("it has more than {MAX_BLOCKS} blocks");
            return Err(Fault::BrokenOff(reason));
        }
        let text = |name: &str| {
            let found = event.pointer(&format!("/content_block/{name}"));
            found.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let block = match text("type").as_str() {
            "text" => {
                let text = text("text");
                if !text.is_empty() {
                    report(Delta::Text(&text));
                }
                Block::Text(text)
            }
            "tool_use" => {
                let is_call = |block: &&Block| matches!(block, Block::Call { .. });
                let index = self.blocks.values().filter(is_call).count();
                let name = text("name");
                let hosted = self.tools.names().host_name(&name);
                report(Delta::Call {
                    index,
                    name: hosted,
                });
                Block::Call {
                    index,
                    id: text("id"),
                    name,
                    arguments: String::new(),
                }
            }
            _ => Block::Other,
        };
        self.blocks.insert(at, block);
        Ok(())
    }

    fn delta(
        &mut self,
        event: &Value,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<(), Fault> {
        let text = |name: &str| {
            event
                .pointer(&format!("/delta/{name}"))
                .and_then(Value::as_str)
        };
        match (self.blocks.get_mut(&index(event)?), text("type")) {
            (Some(Block::Text(text_so_far)), Some("text_delta")) => {
                let more = text("text").unwrap_or_default();
                text_so_far.push_str(more);
                report(Delta::Text(more));
            }
            (
                Some(Block::Call {
                    index, arguments, ..
                }),
                Some("input_json_delta"),
            ) => {
                let text = text("partial_json").unwrap_or_default();
                arguments.push_str(text);
                let index = *index;
                if !text.is_empty() {
                    report(Delta::Arguments { index, text });
                }
            }
            (None, _) => {
                let reason = "a delta does not belong to a content block";
                return Err(Fault::BrokenOff(reason.to_owned()));
            }
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        let input = count("input_tokens")
            .saturating_add(count("cache_creation_input_tokens"))
            .saturating_add(count("cache_read_input_tokens"));
        // The counts of later events are totals, not increments.
        self.usage = Usage::new(
            self.usage.input_tokens.max(input),
            self.usage.output_tokens.max(count("output_tokens")),
        );
    }
}

fn index(event: &Value) -> Result<u64, Fault> {
    let index = event.get("index").and_then(Value::as_u64);
    index.ok_or_else(|| Fault::BrokenOff("an event has no `index`".to_owned()))
}

impl Assembly for Events {
    fn take(
        &mut self,
        data: &str,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<bool, Fault> {
        if data.is_empty() {
            return Ok(false);
        }
        self.bytes += data.len();
        if self.bytes > MAX_ANSWER {
            return Err(Fault::TooLong);
        }
        let event: Value = serde_json::from_str(data)
            .map_err(|error| Fault::BrokenOff(format!("an event is not JSON: {error}")))?;
        if let Some(fault) = reported(&event) {
            return Err(fault);
        }
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                if let Some(model) = event.pointer("/message/model").and_then(Value::as_str) {
                    model.clone_into(&mut self.model);
                }
                self.count(event.pointer("/message/usage"));
            }
            Some("content_block_start") => self.start(&event, report)?,
            Some("content_block_delta") => self.delta(&event, report)?,
            Some("message_delta") => {
                let reason = event.pointer("/delta/stop_reason").and_then(Value::as_str);
                self.stop = reason.map(anthropic_stop_reason).or(self.stop.take());
                self.count(event.get("usage"));
            }
            Some("message_stop") => {
                self.has_ended = true;
                return Ok(true);
            }
            // `ping`, the ends of blocks, and unknown events.
            _ => {}
        }
        Ok(false)
    }

    fn finish(self) -> Result<Answer, Fault> {
        let (true, Some(stop)) = (self.has_ended, self.stop) else {
            let reason = "the stream ended without `message_stop`";
            return Err(Fault::BrokenOff(reason.to_owned()));
        };
        let content = self.blocks.into_values().filter_map(|block| match block {
            Block::Text(text) => (!text.is_empty()).then(|| SamplingContent::text(text)),
            Block::Call {
                id,
                name,
                arguments,
                ..
            } => {
                let call = self.tools.call_of_text(&id, &name, &arguments);
                Some(SamplingContent::ToolUse(call))
            }
            Block::Other => None,
        });
        Ok(Answer::new(
            &self.model,
            content.collect(),
            stop,
            self.usage,
        ))
    }
}
