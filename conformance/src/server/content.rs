//! Tools that give each kind of content.

use turnbuckle::{
    Audio, CallToolResult, Image, ResourceContents, ToolError,
    protocol::{EmbeddedResource, TextResourceContents},
    tool,
};

/// One red pixel.
pub(crate) const PNG: [u8; 69] = [
    137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0,
    0, 0, 144, 119, 83, 222, 0, 0, 0, 12, 73, 68, 65, 84, 120, 156, 99, 248, 207, 192, 0, 0, 3, 1,
    1, 0, 201, 254, 146, 239, 0, 0, 0, 0, 73, 69, 78, 68, 174, 66, 96, 130,
];

/// A WAV file of one silent sample.
const WAV: [u8; 45] = *b"RIFF\x25\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x01\0\0\0\x80";

/// Gives a text.
#[tool(read_only)]
pub(crate) async fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Gives an image.
#[tool(read_only)]
pub(crate) async fn test_image_content() -> Image {
    Image::new("image/png", PNG)
}

/// Gives a sound.
#[tool(read_only)]
pub(crate) async fn test_audio_content() -> Audio {
    Audio::new("audio/wav", WAV)
}

/// Gives a resource along with the result.
#[tool(read_only)]
pub(crate) async fn test_embedded_resource() -> EmbeddedResource {
    embedded(
        "test://embedded-resource",
        "text/plain",
        "This is an embedded resource content.",
    )
}

/// Gives a text, an image and a resource.
#[tool(read_only)]
pub(crate) async fn test_multiple_content_types() -> CallToolResult {
    let resource = embedded(
        "test://mixed-content-resource",
        "application/json",
        r#"{"test":"data","value":123}"#,
    );
    CallToolResult::new(vec![
        "Multiple content types test:".into(),
        Image::new("image/png", PNG).into(),
        resource.into(),
    ])
}

/// Fails.
#[tool(read_only)]
pub(crate) async fn test_error_handling() -> Result<String, ToolError> {
    Err(ToolError::new(
        "This tool intentionally returns an error for testing",
    ))
}

pub(crate) fn embedded(uri: &str, mime_type: &str, text: &str) -> EmbeddedResource {
    let mut contents = TextResourceContents::new(uri, text);
    contents.mime_type = Some(mime_type.to_owned());
    EmbeddedResource::new(ResourceContents::Text(contents))
}
