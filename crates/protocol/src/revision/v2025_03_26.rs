//! The changes of 2025-03-26, and how they are removed from messages to an older peer.

use super::{Revision, rules::Rules, v2024_11_05};
use crate::{
    AudioContent, ContentBlock, ProgressNotificationParams, SamplingContent, ServerCapabilities,
    TextContent, Tool,
};

pub(super) const RULES: Rules = Rules {
    batches: true,
    streamable_http: true,
    ..v2024_11_05::RULES
};

pub(super) fn applies(to: Revision) -> bool {
    to < Revision::V2025_03_26
}

pub(super) fn tool(tool: &mut Tool) {
    tool.annotations = None;
}

pub(super) fn content(block: &mut ContentBlock) {
    if let ContentBlock::Audio(audio) = block {
        *block = ContentBlock::Text(audio_as_text(audio));
    }
}

pub(super) fn sampling_content(content: &mut SamplingContent) {
    if let SamplingContent::Audio(audio) = content {
        *content = SamplingContent::Text(audio_as_text(audio));
    }
}

/// Audio cannot be converted to text, so the text says that there was audio.
fn audio_as_text(audio: &mut AudioContent) -> TextContent {
    let text = format!(
        "[audio of type {} that 2024-11-05 does not support]",
        audio.mime_type
    );
    TextContent {
        text,
        annotations: audio.annotations.take(),
        meta: None,
        other: crate::OtherMembers::new(),
    }
}

pub(super) fn progress_params(params: &mut ProgressNotificationParams) {
    params.message = None;
}

/// Completion is not declared yet.
pub(super) fn server_capabilities(capabilities: &mut ServerCapabilities) {
    capabilities.completions = None;
}
