//! The output for people: text while it is written, and one line for each tool call.

use std::{
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use turnbuckle::{
    models::{Delta, agent::Event, format::Rewrite},
    protocol::{CallToolResult, ContentBlock, ToolUseContent},
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_command_line::{
    control::one_line,
    style::{Style, elapsed},
};

use crate::show::{ProgressLine, for_stdout, tell};

/// How many characters of the arguments or the result are in the line of a call.
const MAX_LINE: usize = 72;

/// How many results are kept, to be shown in full.
const MAX_KEPT: usize = 100;

/// The state of the output.
pub(super) struct Screen {
    folded: Folded,
    progress: ProgressLine,
    /// How many tools the model cannot call and the user has not been told about yet.
    left_out: usize,
    /// Whether the cursor is at the beginning of a line.
    is_at_start: bool,
}

/// Results that were shown as one line, and can be shown in full. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Folded(Arc<Mutex<FoldedResults>>);

#[derive(Default)]
struct FoldedResults {
    count: usize,
    last: Vec<(usize, ToolUseContent, CallToolResult)>,
    rewrites: Vec<Rewrite>,
}

impl Folded {
    fn keep(&self, call: &ToolUseContent, result: &CallToolResult) -> usize {
        let mut kept = self.0.lock();
        kept.count += 1;
        let number = kept.count;
        if kept.last.len() == MAX_KEPT {
            kept.last.remove(0);
        }
        kept.last.push((number, call.clone(), result.clone()));
        number
    }

    /// A call and its result, by their number.
    pub(super) fn find(&self, number: usize) -> Option<(ToolUseContent, CallToolResult)> {
        let kept = self.0.lock();
        let found = kept.last.iter().find(|(other, ..)| *other == number);
        found.map(|(_, call, result)| (call.clone(), result.clone()))
    }

    /// The parts of tools that the model's API does not accept.
    pub(super) fn rewrites(&self) -> Vec<Rewrite> {
        self.0.lock().rewrites.clone()
    }
}

impl Screen {
    pub(super) fn new(folded: Folded) -> Self {
        Self {
            folded,
            progress: ProgressLine::new(),
            left_out: 0,
            is_at_start: true,
        }
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        match event {
            Event::Delta(Delta::Text(text)) => {
                let mut out = io::stdout().lock();
                let _ = write!(out, "{}", for_stdout(text));
                let _ = out.flush();
                self.is_at_start = text.ends_with('\n');
            }
            Event::Delta(Delta::Waiting { time, reason }) => {
                self.end_line();
                let again = format!("  {reason}; trying again in {}", elapsed(*time));
                tell(&Style::Dim.err(&again));
            }
            Event::Calling(call) => {
                self.end_line();
                let arguments = short(&serde_json::Value::Object(call.input.clone()).to_string());
                tell(&format!(
                    "{} {} {}",
                    Style::Dim.err("▸"),
                    one_line(&call.name),
                    Style::Dim.err(&arguments)
                ));
            }
            Event::Progress { progress, .. } => self.progress.show(progress),
            Event::Called {
                call,
                result,
                elapsed,
            } => {
                self.progress.clear();
                self.called(call, result, *elapsed);
            }
            Event::Rewritten(rewrite) => {
                let mut kept = self.folded.0.lock();
                if !kept.rewrites.contains(rewrite) {
                    kept.rewrites.push((*rewrite).clone());
                    self.left_out += usize::from(rewrite.is_left_out);
                }
            }
            Event::Asked { .. } => self.tell_left_out(),
            _ => {}
        }
    }

    fn tell_left_out(&mut self) {
        let count = std::mem::take(&mut self.left_out);
        if count > 0 {
            self.end_line();
            let said = format!(
                "the model's API does not accept so many tools: {count} are left out (see `/tools`)"
            );
            tell(&Style::Warn.err(&said));
        }
    }

    fn called(&mut self, call: &ToolUseContent, result: &CallToolResult, time: Duration) {
        self.end_line();
        let number = self.folded.keep(call, result);
        let mark = if result.is_error() {
            Style::Bad.err("✗")
        } else {
            Style::Good.err("✓")
        };
        let about = format!("({}, /show {number})", elapsed(time));
        tell(&format!(
            "{mark} {} {} {}",
            one_line(&call.name),
            short(&summary(result)),
            Style::Dim.err(&about)
        ));
    }

    /// Ends the line of a text that the model has left open.
    pub(super) fn end_line(&mut self) {
        if !std::mem::replace(&mut self.is_at_start, true) {
            println!();
        }
    }
}

/// A result as one line.
fn summary(result: &CallToolResult) -> String {
    let parts: Vec<_> = result
        .content
        .iter()
        .map(|block| match block {
            ContentBlock::Text(text) => text.text.clone(),
            ContentBlock::Image(image) => format!("[{}]", image.mime_type),
            ContentBlock::Audio(audio) => format!("[{}]", audio.mime_type),
            ContentBlock::ResourceLink(link) => format!("[{}]", link.resource.uri),
            ContentBlock::Resource(embedded) => format!("[{}]", embedded.resource.uri()),
            _ => "[?]".to_owned(),
        })
        .collect();
    parts.join(" ")
}

fn short(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}
