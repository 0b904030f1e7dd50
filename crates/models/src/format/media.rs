//! Pictures, sounds and files in base64, in the form that an API accepts.
//!
//! Because of one unreadable picture, an API refuses the whole conversation, in this and every
//! later round. So a server's statements about its data are checked.

use std::borrow::Cow;

/// A picture, a sound or a file in base64.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Media<'c> {
    pub(super) data: Cow<'c, str>,
    mime_type: &'c str,
    /// The name of the file, if it has one.
    pub(super) name: Option<&'c str>,
}

impl<'c> Media<'c> {
    /// Checks data of this type. A picture gets the type that its first bytes indicate, and line
    /// breaks in base64 are removed.
    ///
    /// # Errors
    /// A text for the model, which replaces data that is not base64 or not a picture.
    pub(super) fn new(
        data: &'c str,
        mime_type: &'c str,
        name: Option<&'c str>,
    ) -> Result<Self, String> {
        let data = if data.contains(|letter: char| letter.is_ascii_whitespace()) {
            let kept = data.chars().filter(|letter| !letter.is_ascii_whitespace());
            Cow::Owned(kept.collect())
        } else {
            Cow::Borrowed(data)
        };
        let mut media = Self {
            data,
            mime_type,
            name,
        };
        let is_readable = is_base64(&media.data);
        if is_readable && let Some(kind) = picture(&media.data) {
            media.mime_type = kind;
            return Ok(media);
        }
        let kind = media.kind();
        let is_picture = [
            "image/png",
            "image/jpeg",
            "image/jpg",
            "image/gif",
            "image/webp",
        ]
        .contains(&kind.as_str());
        if !is_readable || is_picture {
            return Err(media.left_out("its bytes do not match its media type"));
        }
        Ok(media)
    }

    /// The media type in lower case, without parameters.
    pub(super) fn kind(&self) -> String {
        let kind = self.mime_type.split(';').next().unwrap_or_default();
        kind.trim().to_ascii_lowercase()
    }

    pub(super) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.kind(), self.data)
    }

    /// A text for the model, which replaces media that its API does not support.
    pub(super) fn note(&self) -> String {
        self.left_out("this model's API does not accept it")
    }

    fn left_out(&self, why: &str) -> String {
        let size = self.data.len() / 4 * 3;
        let name = self
            .name
            .map_or_else(String::new, |name| format!(" {name}"));
        format!("[{}{name}, {size} bytes: left out, {why}]", self.kind())
    }
}

/// Whether a text is base64 with padding.
fn is_base64(data: &str) -> bool {
    let letters = data.trim_end_matches('=');
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    data.len().is_multiple_of(4)
        && data.len() - letters.len() <= 2
        && !letters.is_empty()
        && letters.bytes().all(is_letter)
}

/// The type of a picture, determined from its first bytes. Three bytes are four characters of base64.
fn picture(data: &str) -> Option<&'static str> {
    let begins = |letters: &str| data.starts_with(letters);
    if begins("iVBORw0KGgo") {
        Some("image/png")
    } else if begins("/9j/") {
        Some("image/jpeg")
    } else if begins("R0lGOD") {
        Some("image/gif")
    } else if begins("UklGR") && data.get(12..16) == Some("RUJQ") {
        // `RIFF`, four bytes for the size, `WEBP`.
        Some("image/webp")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &str = "iVBORw0KGgoAAAANSUhEUg==";

    #[test]
    fn a_picture_has_the_type_of_its_bytes() {
        for (data, said, kind) in [
            (PNG, "image/png", "image/png"),
            (PNG, "image/jpeg", "image/png"),
            (PNG, "application/octet-stream", "image/png"),
            ("/9j/4AAQSkZJRg==", "image/jpg", "image/jpeg"),
            ("R0lGODlhAQABAAAA", "image/png; x=1", "image/gif"),
            ("UklGRgAAAABXRUJQ", "image/png", "image/webp"),
            ("UklGRgAAAABXQVZF", "audio/wav", "audio/wav"),
            ("aGk=", "Application/PDF", "application/pdf"),
            ("PHN2Zz4=", "image/svg+xml", "image/svg+xml"),
        ] {
            assert_eq!(Media::new(data, said, None).unwrap().kind(), kind, "{data}");
        }
        let wrapped = "iVBORw0KGgoA\r\nAAANSUhEUg==\n";
        assert_eq!(Media::new(wrapped, "image/png", None).unwrap().data, PNG);
    }

    #[test]
    fn bytes_that_an_api_would_refuse_are_named() {
        for (data, said) in [
            ("aGk=", "image/png"),
            ("", "image/png"),
            ("iVBORw0KGgo", "image/png"),
            ("iVBORw0KGgo!", "image/png"),
            ("a===", "audio/wav"),
            ("a=b=", "application/pdf"),
            ("päng", "application/pdf"),
        ] {
            let note = Media::new(data, said, Some("f")).unwrap_err();
            assert!(
                note.ends_with("its bytes do not match its media type]"),
                "{note}"
            );
            assert!(note.starts_with(&format!("[{said} f, ")), "{note}");
        }
    }
}
