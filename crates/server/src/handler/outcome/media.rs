//! Images and audio, from bytes.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use turnbuckle_protocol::{AudioContent, ContentBlock, ImageContent};

/// An image as the result of a tool, from its bytes.
///
/// ```
/// use turnbuckle_server::Image;
///
/// async fn plot() -> Image {
///     Image::new("image/png", include_bytes!("../../../tests/data/dot.png"))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Image(ImageContent);

impl Image {
    /// Creates an image of this media type, such as `image/png`. The bytes are encoded as base64;
    /// they are not checked.
    pub fn new(mime_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self(ImageContent::new(STANDARD.encode(bytes), mime_type.into()))
    }
}

impl From<Image> for ContentBlock {
    fn from(image: Image) -> Self {
        Self::Image(image.0)
    }
}

/// Audio as the result of a tool, from its bytes. Clients of 2024-11-05 do not support audio, so
/// they get a text that names its type.
#[derive(Clone, Debug)]
pub struct Audio(AudioContent);

impl Audio {
    /// Creates audio of this media type, such as `audio/wav`. The bytes are encoded as base64; they
    /// are not checked.
    pub fn new(mime_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        Self(AudioContent::new(STANDARD.encode(bytes), mime_type.into()))
    }
}

impl From<Audio> for ContentBlock {
    fn from(audio: Audio) -> Self {
        Self::Audio(audio.0)
    }
}
