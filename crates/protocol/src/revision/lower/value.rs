//! Values in messages: tools, resources, prompts, content, capabilities.

use super::{
    Lower, Revision, draft, retired, steps, v2025_03_26, v2025_06_18, v2025_11_25, v2026_07_28,
};
use crate::{
    Annotations, ClientCapabilities, ContentBlock, ErrorObject, Implementation, Prompt,
    PromptArgument, PromptMessage, Resource, ResourceContents, ResourceTemplate, Root,
    SamplingContent, SamplingMessage, ServerCapabilities, Tool, ToolResultContent,
};

impl Lower for Implementation {
    fn lower(&mut self, to: Revision) {
        steps!(self, to, implementation: v2025_11_25 v2025_06_18);
    }
}

impl Lower for Annotations {
    fn lower(&mut self, to: Revision) {
        steps!(self, to, annotations: v2025_06_18);
    }
}

impl Lower for Tool {
    fn lower(&mut self, to: Revision) {
        steps!(self, to, tool: draft retired v2026_07_28 v2025_11_25 v2025_06_18 v2025_03_26);
    }
}

impl Lower for Resource {
    fn lower(&mut self, to: Revision) {
        self.annotations.lower(to);
        steps!(self, to, resource: v2025_11_25 v2025_06_18);
    }
}

impl Lower for ResourceTemplate {
    fn lower(&mut self, to: Revision) {
        self.annotations.lower(to);
        steps!(self, to, resource_template: v2025_11_25 v2025_06_18);
    }
}

impl Lower for ResourceContents {
    fn lower(&mut self, to: Revision) {
        steps!(self, to, resource_contents: v2025_06_18);
    }
}

impl Lower for Prompt {
    fn lower(&mut self, to: Revision) {
        self.arguments.lower(to);
        steps!(self, to, prompt: v2025_11_25 v2025_06_18);
    }
}

impl Lower for PromptArgument {
    fn lower(&mut self, to: Revision) {
        steps!(self, to, prompt_argument: v2025_06_18);
    }
}

impl Lower for PromptMessage {
    fn lower(&mut self, to: Revision) {
        self.content.lower(to);
    }
}

impl Lower for Root {
    fn lower(&mut self, to: Revision) {
        steps!(self, to, root: v2025_06_18);
    }
}

impl Lower for ContentBlock {
    fn lower(&mut self, to: Revision) {
        steps!(self, to, content: draft);
        // Content is the same in 2025-11-25 and 2026-07-28, and this is often executed.
        if to >= Revision::V2025_11_25 {
            return;
        }
        match self {
            Self::Text(content) => content.annotations.lower(to),
            Self::Image(content) => content.annotations.lower(to),
            Self::Audio(content) => content.annotations.lower(to),
            Self::ResourceLink(link) => link.resource.lower(to),
            Self::Resource(content) => {
                content.annotations.lower(to);
                content.resource.lower(to);
            }
            // The type is unknown, so it is also unknown which revisions have it.
            Self::Other(_) => {}
        }
        steps!(self, to, content: v2025_06_18 v2025_03_26);
    }
}

impl Lower for SamplingContent {
    fn lower(&mut self, to: Revision) {
        match self {
            Self::Text(content) => content.annotations.lower(to),
            Self::Image(content) => content.annotations.lower(to),
            Self::Audio(content) => content.annotations.lower(to),
            Self::ToolUse(_) => {}
            Self::ToolResult(result) => result.lower(to),
        }
        steps!(self, to, sampling_content: v2025_06_18 v2025_03_26);
    }
}

impl Lower for ToolResultContent {
    fn lower(&mut self, to: Revision) {
        self.content.lower(to);
        steps!(self, to, tool_result_content: v2026_07_28);
    }
}

impl Lower for SamplingMessage {
    /// Only lowers the content; the number of messages depends on the whole conversation.
    fn lower(&mut self, to: Revision) {
        self.content.lower(to);
    }
}

impl Lower for ClientCapabilities {
    fn lower(&mut self, to: Revision) {
        steps!(self, to, client_capabilities: retired v2025_11_25 v2025_06_18);
    }
}

impl Lower for ServerCapabilities {
    fn lower(&mut self, to: Revision) {
        steps!(self, to, server_capabilities: retired v2025_11_25 v2025_03_26);
    }
}

impl Lower for ErrorObject {
    /// Invalid params whose data contains a `uri` are treated as a resource that was not found.
    fn lower(&mut self, to: Revision) {
        steps!(self, to, error: retired v2026_07_28 v2025_11_25);
    }
}
