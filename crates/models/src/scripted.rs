//! A model that follows a script, for tests and demos: without a network or a key, and with the
//! same answers each time.

use std::collections::VecDeque;
use std::path::Path;

use futures_core::future::BoxFuture;
use serde::Deserialize;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{
    ContentBlock, CreateMessageRequestParams, JsonObject, SamplingContent, SamplingMessage,
    StopReason, ToolUseContent,
};

use crate::error::ModelError;
use crate::format::{Answer, Usage};
use crate::model::{Delta, Model};

/// 16 MiB: scripts are written by hand, and are shorter.
const MAX_SCRIPT: u64 = 16 * 1024 * 1024;

/// A model that answers with the turns of a script, one after the other.
///
/// A script has one JSON object in each line. Empty lines and lines that begin with `#` are skipped.
///
/// | member | meaning |
/// |---|---|
/// | `text` | what the model says; `{{user}}` is the last text of the user, `{{result}}` that of the last tool result |
/// | `calls` | tools that it calls: `[{"name": "add", "arguments": {"a": 1}}]` |
/// | `expect` | text that the last message must contain, or the turn fails |
/// | `error` | the turn fails with this message |
///
/// ```
/// use turnbuckle_models::Scripted;
///
/// let script = r#"
///     {"text": "Let me see.", "calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]}
///     {"expect": "3", "text": "It is {{result}}."}
/// "#;
/// assert_eq!(Scripted::parse("demo", script)?.remaining(), 2);
/// # Ok::<(), turnbuckle_models::ModelError>(())
/// ```
pub struct Scripted {
    name: String,
    turns: Mutex<Turns>,
}

struct Turns {
    left: VecDeque<Turn>,
    calls: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Turn {
    #[serde(skip)]
    line: usize,
    expect: Option<String>,
    text: Option<String>,
    calls: Vec<ScriptedCall>,
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    name: String,
    #[serde(default)]
    arguments: JsonObject,
}

impl Scripted {
    /// Reads a script from a file.
    ///
    /// # Errors
    /// [`ModelError::Script`] if the file does not exist or is too large, or a line is not a valid turn.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let script = path.display().to_string();
        let failed = |reason: String| ModelError::Script {
            script: script.clone(),
            reason,
        };
        let size = std::fs::metadata(path).map_err(|error| failed(error.to_string()))?;
        if size.len() > MAX_SCRIPT {
            return Err(failed(format!("larger than {MAX_SCRIPT} bytes")));
        }
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        Self::parse(script.clone(), &text)
    }

    /// Parses a script. The name is used in errors.
    ///
    /// # Errors
    /// [`ModelError::Script`] if a line is not a valid turn.
    pub fn parse(name: impl Into<String>, script: &str) -> Result<Self, ModelError> {
        let name = name.into();
        let mut left = VecDeque::new();
        for (index, text) in script.lines().enumerate() {
            let (line, text) = (index + 1, text.trim());
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let turn: Turn = serde_json::from_str(text).map_err(|error| ModelError::Script {
                script: name.clone(),
                reason: format!("line {line}: {error}"),
            })?;
            left.push_back(Turn { line, ..turn });
        }
        Ok(Self {
            name,
            turns: Mutex::new(Turns { left, calls: 0 }),
        })
    }

    /// How many turns have not been used yet. Tests use it to check that the whole script was played.
    pub fn remaining(&self) -> usize {
        self.turns.lock().left.len()
    }

    fn play(
        &self,
        params: &CreateMessageRequestParams,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Answer, ModelError> {
        let failed = |reason: String| ModelError::Script {
            script: self.name.clone(),
            reason,
        };
        let (turn, first) = {
            let mut turns = self.turns.lock();
            let turn = turns.left.pop_front();
            let turn =
                turn.ok_or_else(|| failed("the script has no turns left; add a line".to_owned()))?;
            let first = turns.calls + 1;
            turns.calls += turn.calls.len();
            (turn, first)
        };
        let last = params.messages.last().map(text_of).unwrap_or_default();
        if let Some(expected) = &turn.expect
            && !last.contains(expected)
        {
            let line = turn.line;
            return Err(failed(format!(
                "line {line}: expected `{expected}` in `{last}`"
            )));
        }
        if let Some(error) = turn.error {
            return Err(failed(format!("line {}: {error}", turn.line)));
        }
        let text = turn.text.map(|text| filled(&text, params));
        Ok(answer_of(text, turn.calls, first, &last, report))
    }
}

impl Model for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn answer<'a>(
        &'a self,
        params: &'a CreateMessageRequestParams,
        report: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(async move { self.play(params, report) })
    }
}

/// Makes the answer of a turn, and reports it word by word.
fn answer_of(
    text: Option<String>,
    calls: Vec<ScriptedCall>,
    first: usize,
    read: &str,
    report: &mut (dyn FnMut(Delta<'_>) + Send),
) -> Answer {
    let words = |text: &str| text.split_whitespace().count() as u64;
    let mut usage = Usage::new(words(read), 0);
    let mut content = Vec::new();
    if let Some(text) = text {
        usage.output_tokens = words(&text);
        for piece in text.split_inclusive(' ') {
            report(Delta::Text(piece));
        }
        content.push(SamplingContent::text(text));
    }
    let stop = if calls.is_empty() {
        StopReason::EndTurn
    } else {
        StopReason::ToolUse
    };
    for (index, call) in calls.into_iter().enumerate() {
        report(Delta::Call {
            index,
            name: &call.name,
        });
        let id = format!("call_{}", first + index);
        let call = ToolUseContent::new(id, call.name, call.arguments);
        content.push(SamplingContent::ToolUse(call));
    }
    Answer::new("scripted", content, stop, usage)
}

/// Fills in the placeholders of a text from the conversation.
fn filled(text: &str, params: &CreateMessageRequestParams) -> String {
    let last = |find: fn(&SamplingMessage) -> Option<String>| {
        params
            .messages
            .iter()
            .rev()
            .find_map(find)
            .unwrap_or_default()
    };
    let user = |message: &SamplingMessage| {
        let is_user = message.role == turnbuckle_protocol::Role::User;
        let texts = message.content.iter().filter_map(SamplingContent::as_text);
        let text: Vec<_> = texts.collect();
        (is_user && !text.is_empty()).then(|| text.join("\n"))
    };
    let result = |message: &SamplingMessage| {
        message
            .content
            .iter()
            .rev()
            .find_map(|content| match content {
                SamplingContent::ToolResult(result) => Some(blocks(&result.content)),
                _ => None,
            })
    };
    text.replace("{{user}}", &last(user))
        .replace("{{result}}", &last(result))
}

/// All text of a message, including that of tool results.
fn text_of(message: &SamplingMessage) -> String {
    let texts = message.content.iter().map(|content| match content {
        SamplingContent::ToolResult(result) => blocks(&result.content),
        other => other.as_text().unwrap_or_default().to_owned(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn blocks(content: &[ContentBlock]) -> String {
    let texts: Vec<_> = content.iter().filter_map(ContentBlock::as_text).collect();
    texts.join("\n")
}
