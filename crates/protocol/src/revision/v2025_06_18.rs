//! The changes of 2025-06-18, and how they are removed from messages to an older peer.

use super::{Inexpressible, Revision, rules::Rules, v2025_03_26, v2026_07_28};
use crate::{
    Annotations, CallToolResult, ClientCapabilities, CompleteRequestParams, ContentBlock,
    ElicitRequestParams, Implementation, Prompt, PromptArgument, Reference, Resource,
    ResourceContents, ResourceLink, ResourceTemplate, Root, SamplingContent, TextContent, Tool,
};

pub(super) const RULES: Rules = Rules {
    batches: false,
    version_header: true,
    ..v2025_03_26::RULES
};

pub(super) fn applies(to: Revision) -> bool {
    to < Revision::V2025_06_18
}

pub(super) fn implementation(implementation: &mut Implementation) {
    implementation.title = None;
}

pub(super) fn annotations(annotations: &mut Annotations) {
    annotations.last_modified = None;
}

/// The display name belongs to the annotations here.
pub(super) fn tool(tool: &mut Tool) {
    if let Some(title) = tool.title.take() {
        tool.annotations
            .get_or_insert_default()
            .title
            .get_or_insert(title);
    }
    tool.output_schema = None;
    tool.meta = None;
}

pub(super) fn resource(resource: &mut Resource) {
    resource.title = None;
    resource.meta = None;
}

pub(super) fn resource_template(template: &mut ResourceTemplate) {
    template.title = None;
    template.meta = None;
}

pub(super) fn resource_contents(contents: &mut ResourceContents) {
    match contents {
        ResourceContents::Text(contents) => contents.meta = None,
        ResourceContents::Blob(contents) => contents.meta = None,
    }
}

pub(super) fn prompt(prompt: &mut Prompt) {
    prompt.title = None;
    prompt.meta = None;
}

pub(super) fn prompt_argument(argument: &mut PromptArgument) {
    argument.title = None;
}

pub(super) fn root(root: &mut Root) {
    root.meta = None;
}

pub(super) fn content(block: &mut ContentBlock) {
    match block {
        ContentBlock::Text(content) => content.meta = None,
        ContentBlock::Image(content) => content.meta = None,
        ContentBlock::Audio(content) => content.meta = None,
        ContentBlock::Resource(content) => content.meta = None,
        ContentBlock::ResourceLink(link) => *block = ContentBlock::Text(link_as_text(link)),
        ContentBlock::Other(_) => {}
    }
}

/// Converts a link to text: its name, its URI and its description.
fn link_as_text(link: &mut ResourceLink) -> TextContent {
    let resource = &mut link.resource;
    let mut text = format!("{}: {}", resource.name, resource.uri);
    if let Some(description) = &resource.description {
        text.push('\n');
        text.push_str(description);
    }
    TextContent {
        text,
        annotations: resource.annotations.take(),
        meta: None,
        other: crate::OtherMembers::new(),
    }
}

pub(super) fn sampling_content(content: &mut SamplingContent) {
    match content {
        SamplingContent::Text(content) => content.meta = None,
        SamplingContent::Image(content) => content.meta = None,
        SamplingContent::Audio(content) => content.meta = None,
        SamplingContent::ToolUse(content) => content.meta = None,
        SamplingContent::ToolResult(content) => content.meta = None,
    }
}

pub(super) fn call_tool_result(result: &mut CallToolResult) {
    v2026_07_28::structured_to_text(result);
}

pub(super) fn complete_params(params: &mut CompleteRequestParams) {
    params.context = None;
    if let Reference::Prompt(prompt) = &mut params.reference {
        prompt.title = None;
    }
}

pub(super) fn client_capabilities(capabilities: &mut ClientCapabilities) {
    capabilities.elicitation = None;
}

pub(super) fn elicit_params(
    _params: &mut ElicitRequestParams,
    to: Revision,
) -> Result<(), Inexpressible> {
    Err(Inexpressible::Elicitation(to))
}
