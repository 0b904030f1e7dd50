//! Values that occur in messages.

use crate::{LoggingLevel, Revision, Role, TaskStatus};
use serde_json::json;

use crate::tests::{
    generator::{Generator, written},
    sample,
};

pub(super) fn values(g: &mut Generator) {
    let f = g.f;
    let named = ["BaseMetadata", "Icons"];
    g.value(&["Implementation"], &named, sample::implementation(f));
    g.value(&["ClientCapabilities"], &[], sample::client_capabilities(f));
    g.value(&["ServerCapabilities"], &[], sample::server_capabilities(f));
    for tool in [sample::tool(f), sample::array_tool(f)] {
        g.value(&["Tool"], &named, tool);
    }
    g.value(
        &["Resource"],
        &["BaseMetadata", "Icons", "Annotated"],
        sample::resource(f),
    );
    g.value(&["ResourceTemplate"], &named, sample::resource_template(f));
    g.value(&["Prompt"], &named, sample::prompt(f));
    g.value(
        &["PromptArgument"],
        &["BaseMetadata"],
        sample::prompt_argument(f),
    );
    g.value(&["Root"], &[], sample::root(f));
    g.value(&["Annotations"], &[], sample::annotations(f));
    g.push(
        &["ToolAnnotations"],
        &[],
        written(&sample::tool_annotations(f)),
    );
    g.push(
        &["ModelPreferences"],
        &[],
        written(&sample::model_preferences(f)),
    );
    contents(g);
    content(g);
    if g.to >= Revision::V2025_11_25 {
        g.push(&["Icon"], &[], written(&sample::icon(f)));
        let block = ["SamplingMessageContentBlock"];
        let mut result = sample::tool_result(f);
        g.value(&["ToolResultContent"], &block, result.clone());
        result.structured_content = f.opt(json!({"ticket": "A3"}));
        g.value(&["ToolResultContent"], &block, result);
        g.push(&["ToolUseContent"], &block, written(&sample::tool_use(f)));
        g.value(&["SamplingMessage"], &[], sample::sampling_message(f));
    }
}

fn contents(g: &mut Generator) {
    for contents in sample::contents(g.f) {
        let json = g.lowered(contents);
        let is_text = json.get("text").is_some();
        let exact = if is_text {
            "TextResourceContents"
        } else {
            "BlobResourceContents"
        };
        g.push(&[exact], &["ResourceContents"], json);
    }
}

/// Each block with its own definition, which lowering may change.
fn content(g: &mut Generator) {
    for block in sample::content(g.f) {
        let json = g.lowered(block);
        let exact = match json["type"].as_str() {
            Some("text") => "TextContent",
            Some("image") => "ImageContent",
            Some("audio") => "AudioContent",
            Some("resource_link") => "ResourceLink",
            Some("resource") => "EmbeddedResource",
            other => panic!("{other:?} is not a kind of content"),
        };
        g.push(&[exact], &["ContentBlock"], json);
    }
    for message in sample::prompt_messages(g.f) {
        g.value(&["PromptMessage"], &[], message);
    }
}

/// Types that consist of one word or number, or little more.
pub(super) fn words(g: &mut Generator) {
    for id in [json!(1), json!("one")] {
        g.push(&["RequestId", "ProgressToken"], &[], id);
    }
    g.push(&["Cursor", "ResultType"], &[], json!("complete"));
    g.push(&["Role"], &[], written(&Role::User));
    g.push(&["LoggingLevel"], &[], written(&LoggingLevel::Emergency));
    g.push(&["TaskStatus"], &[], written(&TaskStatus::InputRequired));
    g.push(&["ModelHint"], &[], json!({"name": "large"}));
    g.push(&["ToolChoice"], &[], json!({"mode": "none"}));
    g.push(&["ToolExecution"], &[], json!({"taskSupport": "required"}));
}
