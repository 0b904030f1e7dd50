//! Blocks of content: text as it is, everything else by what it is.

use turnbuckle::{CallToolResult, ContentBlock, ResourceContents};

use super::bytes;
use crate::argument::Tree;

/// What a tool gave. Structured content is shown where the text does not say the same.
pub(crate) fn tool_result(result: &CallToolResult) -> String {
    let structured = result
        .structured_content
        .as_ref()
        .and_then(|raw| Tree::parse(raw.get()).ok());
    let Some(structured) = structured else {
        return joined(result.content.iter());
    };
    let others = result
        .content
        .iter()
        .filter(|block| !says(block, &structured));
    let text = joined(others);
    let pretty = structured.to_pretty();
    if text.is_empty() {
        pretty
    } else {
        format!("{text}\n{pretty}")
    }
}

fn joined<'b>(blocks: impl Iterator<Item = &'b ContentBlock>) -> String {
    blocks.map(block).collect::<Vec<_>>().join("\n")
}

/// Whether a block is the structured content once more, as text for clients that know no other.
fn says(block: &ContentBlock, structured: &Tree) -> bool {
    match block {
        ContentBlock::Text(text) => Tree::parse(&text.text).is_ok_and(|tree| tree == *structured),
        _ => false,
    }
}

/// One block.
pub(crate) fn block(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => {
            format!(
                "[image {}, {}]",
                image.mime_type,
                bytes(decoded(&image.data))
            )
        }
        ContentBlock::Audio(audio) => {
            format!(
                "[audio {}, {}]",
                audio.mime_type,
                bytes(decoded(&audio.data))
            )
        }
        ContentBlock::ResourceLink(link) => {
            format!("[link {} ({})]", link.resource.uri, link.resource.name)
        }
        ContentBlock::Resource(embedded) => contents(&embedded.resource),
        ContentBlock::Other(other) => format!("[{}]", other.kind),
    }
}

/// What a resource holds.
pub(crate) fn contents(contents: &ResourceContents) -> String {
    match contents {
        ResourceContents::Text(text) => text.text.clone(),
        ResourceContents::Blob(blob) => format!(
            "[{} {}, {}]",
            blob.mime_type.as_deref().unwrap_or("bytes of"),
            blob.uri,
            bytes(decoded(&blob.blob))
        ),
    }
}

/// How many bytes a base64 text stands for.
fn decoded(base64: &str) -> usize {
    base64.trim_end_matches('=').len() * 3 / 4
}
