//! A sampling request: shown in full, and answered by hand or refused.

use turnbuckle::protocol::{CreateMessageRequestParams, CreateMessageResult, StopReason};
use turnbuckle_command_line::{
    argument::Tree,
    control::tell,
    failure::{Code, Failed, Outcome},
    style::Style,
};

use super::line::Line;

/// The name of the model if the user answers in place of a model.
pub(super) const MODEL: &str = "human";

/// Shows the whole request, and reads an answer of one or more lines, ended by an empty line.
pub(super) async fn ask(
    server: &str,
    request: &CreateMessageRequestParams,
) -> Outcome<CreateMessageResult> {
    tell(&format!(
        "{} {server} asks your model:",
        Style::Ask.err("?")
    ));
    let json = serde_json::to_string(request).unwrap_or_default();
    let shown = Tree::parse(&json).map_or(json, |tree| tree.to_pretty());
    for text in shown.lines() {
        tell(&format!("  {text}"));
    }
    let how = Style::Dim.err("type its answer; an empty line ends the answer, Ctrl-D refuses");
    tell(&format!("  {how}"));
    let mut answer: Vec<String> = Vec::new();
    loop {
        let line = Line::new("  > ");
        // Text that was typed before the question was shown is not an answer to it.
        let line = if answer.is_empty() {
            line.not_typed_ahead()
        } else {
            line
        };
        let Some(text) = line.read().await? else {
            return Err(Failed::new(
                Code::Input,
                format!("the question of `{server}` to your model was refused"),
            ));
        };
        if text.is_empty() && !answer.is_empty() {
            break;
        }
        if !text.is_empty() {
            answer.push(text);
        }
    }
    Ok(result(answer.join("\n")))
}

/// The user's answer in place of a model's.
pub(super) fn result(text: String) -> CreateMessageResult {
    CreateMessageResult::new(MODEL, turnbuckle::protocol::SamplingContent::text(text))
        .with_stop_reason(StopReason::EndTurn)
}
