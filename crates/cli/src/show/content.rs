//! Content blocks as text: texts unchanged, everything else described.

use std::io::{self, IsTerminal as _};

use turnbuckle::{CallToolResult, ContentBlock, ResourceContents, protocol::Named as _};
use turnbuckle_command_line::{argument::Tree, control::for_stdout};

use super::Media;

/// The result of a tool as text: its content, or the structured content if there is no text besides it.
///
/// Programs get the text unchanged. People see the structured content formatted if the
/// text is the same JSON.
pub(crate) fn tool_result(result: &CallToolResult, media: &Media) -> String {
    let has_text = |block: &ContentBlock| matches!(block, ContentBlock::Text(_));
    if !io::stdout().is_terminal() && result.content.iter().any(has_text) {
        return joined(result.content.iter(), media);
    }
    let structured = result
        .structured_content
        .as_ref()
        .and_then(|raw| Tree::parse(raw.get()).ok());
    let Some(structured) = structured else {
        return joined(result.content.iter(), media);
    };
    let others = result
        .content
        .iter()
        .filter(|block| !says(block, &structured));
    let is_told = others.clone().any(has_text);
    let text = joined(others, media);
    if is_told {
        return text;
    }
    let pretty = structured.to_pretty();
    let pretty = for_stdout(&pretty);
    if text.is_empty() {
        pretty.into_owned()
    } else {
        format!("{text}\n{pretty}")
    }
}

fn joined<'b>(blocks: impl Iterator<Item = &'b ContentBlock>, media: &Media) -> String {
    let shown = blocks.map(|each| block(each, media));
    shown.collect::<Vec<_>>().join("\n")
}

/// Whether a block repeats the structured content as text, for clients that do not support it.
fn says(block: &ContentBlock, structured: &Tree) -> bool {
    match block {
        ContentBlock::Text(text) => Tree::parse(&text.text).is_ok_and(|tree| tree == *structured),
        _ => false,
    }
}

/// One content block.
pub(crate) fn block(block: &ContentBlock, media: &Media) -> String {
    match block {
        ContentBlock::Text(text) => for_stdout(&text.text).into_owned(),
        ContentBlock::Image(image) => media.shown("image", &image.mime_type, &image.data),
        ContentBlock::Audio(audio) => media.shown("audio", &audio.mime_type, &audio.data),
        ContentBlock::ResourceLink(link) => {
            let name = link.resource.display_name();
            let line = format!("[link {} ({name})]", link.resource.uri);
            for_stdout(&line).into_owned()
        }
        ContentBlock::Resource(embedded) => contents(&embedded.resource, media),
        ContentBlock::Other(other) => for_stdout(&format!("[{}]", other.kind)).into_owned(),
        _ => "[content]".to_owned(),
    }
}

/// The contents of a resource.
pub(crate) fn contents(contents: &ResourceContents, media: &Media) -> String {
    match contents {
        ResourceContents::Text(text) => for_stdout(&text.text).into_owned(),
        ResourceContents::Blob(blob) => {
            let mime_type = blob
                .mime_type
                .as_deref()
                .unwrap_or("application/octet-stream");
            let what = if mime_type.starts_with("image/") {
                "image"
            } else {
                "resource"
            };
            media.shown(what, mime_type, &blob.blob)
        }
        _ => "[contents]".to_owned(),
    }
}
