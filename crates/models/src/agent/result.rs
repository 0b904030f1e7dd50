//! Converts the result of a tool call for the model.

use serde_json::Value;
use turnbuckle_protocol::{CallToolResult, ContentBlock, ToolResultContent};

/// 4 MiB of base64 for one media part. The APIs accept pictures of about that size.
const MAX_MEDIA: usize = 4 * 1024 * 1024;

/// A result in the form for the conversation, with at most this many bytes of text.
pub(super) fn told(id: &str, result: &CallToolResult, max_text: usize) -> ToolResultContent {
    let mut left = max_text;
    let mut content: Vec<_> = result
        .content
        .iter()
        .map(|block| shortened(block, &mut left))
        .collect();
    // Servers repeat structured content as text, so it is needed here only if they do not.
    if content.is_empty()
        && let Some(structured) = &result.structured_content
    {
        content.push(shortened(&ContentBlock::text(structured.get()), &mut left));
    }
    let mut told = ToolResultContent::new(id, content);
    if let Some(structured) = &result.structured_content
        && structured.get().len() <= max_text
    {
        told.structured_content = serde_json::from_str::<Value>(structured.get()).ok();
    }
    if result.is_error() {
        told = told.with_is_error(true);
    }
    told
}

fn shortened(block: &ContentBlock, left: &mut usize) -> ContentBlock {
    use turnbuckle_protocol::ResourceContents;

    let media = |data: &str, mime_type: &str| {
        let size = data.len();
        (size > MAX_MEDIA).then(|| {
            let limit = MAX_MEDIA;
            ContentBlock::text(format!("[{mime_type}, {size} of {limit} bytes: left out]"))
        })
    };
    let mut block = block.clone();
    let replaced = match &mut block {
        ContentBlock::Text(text) => {
            cut(&mut text.text, left);
            None
        }
        ContentBlock::Image(image) => media(&image.data, &image.mime_type),
        ContentBlock::Audio(audio) => media(&audio.data, &audio.mime_type),
        ContentBlock::Resource(embedded) => match &mut embedded.resource {
            ResourceContents::Text(contents) => {
                cut(&mut contents.text, left);
                None
            }
            ResourceContents::Blob(contents) => {
                let mime_type = contents.mime_type.as_deref();
                media(
                    &contents.blob,
                    mime_type.unwrap_or("application/octet-stream"),
                )
            }
            _ => None,
        },
        _ => None,
    };
    replaced.unwrap_or(block)
}

fn cut(text: &mut String, left: &mut usize) {
    let whole = text.len();
    if whole <= *left {
        *left -= whole;
        return;
    }
    let mut end = *left;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    *text += format!("\n[cut off: {end} of {whole} bytes]").as_str();
    *left = 0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_results_are_cut_and_say_so() {
        let result = CallToolResult::new(vec![
            ContentBlock::text("1234"),
            ContentBlock::text("5ä789"),
            ContentBlock::text("x"),
            ContentBlock::image("A".repeat(MAX_MEDIA + 1), "image/png"),
        ]);
        let told = told("a", &result, 6);
        let texts: Vec<_> = told
            .content
            .iter()
            .filter_map(ContentBlock::as_text)
            .collect();
        assert_eq!(texts[0], "1234");
        assert_eq!(texts[1], "5\n[cut off: 1 of 6 bytes]");
        assert_eq!(texts[2], "\n[cut off: 0 of 1 bytes]");
        assert_eq!(texts[3], "[image/png, 4194305 of 4194304 bytes: left out]");
    }
}
