//! Converts tool results and messages into content that an API accepts.

use std::borrow::Cow;

use turnbuckle_protocol::{
    Annotations, ContentBlock, EmbeddedResource, Resource, ResourceContents, Role, SamplingContent,
    ToolResultContent,
};

use super::media::Media;

/// A part of the content.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part<'c> {
    Text(Cow<'c, str>),
    Media(Media<'c>),
}

/// The parts of a tool's result that are meant for the model.
pub(super) fn result_parts(result: &ToolResultContent) -> Vec<Part<'_>> {
    let mut parts: Vec<_> = result.content.iter().filter_map(part).collect();
    if parts.is_empty()
        && let Some(structured) = &result.structured_content
    {
        parts.push(Part::Text(structured.to_string().into()));
    }
    if parts.is_empty() {
        let note = if result.content.is_empty() {
            "[no content]"
        } else {
            "[the content is for the user only]"
        };
        parts.push(Part::Text(note.into()));
    }
    parts
}

/// The part for a message; `None` for tool calls and results.
pub(super) fn message_part(content: &SamplingContent) -> Option<Part<'_>> {
    match content {
        SamplingContent::Text(text) => Some(Part::Text(Cow::from(&text.text))),
        SamplingContent::Image(image) => Some(media(&image.data, &image.mime_type, None)),
        SamplingContent::Audio(audio) => Some(media(&audio.data, &audio.mime_type, None)),
        _ => None,
    }
}

fn part(block: &ContentBlock) -> Option<Part<'_>> {
    let (part, annotations) = match block {
        ContentBlock::Text(text) => (Part::Text(Cow::from(&text.text)), &text.annotations),
        ContentBlock::Image(image) => (
            media(&image.data, &image.mime_type, None),
            &image.annotations,
        ),
        ContentBlock::Audio(audio) => (
            media(&audio.data, &audio.mime_type, None),
            &audio.annotations,
        ),
        ContentBlock::ResourceLink(linked) => (
            Part::Text(link(&linked.resource).into()),
            &linked.resource.annotations,
        ),
        ContentBlock::Resource(embedded) => (resource(embedded), &embedded.annotations),
        other => (Part::Text(unknown(other).into()), &None),
    };
    is_for_the_model(annotations.as_ref()).then_some(part)
}

fn is_for_the_model(annotations: Option<&Annotations>) -> bool {
    let audience = annotations.and_then(|annotations| annotations.audience.as_ref());
    audience.is_none_or(|audience| audience.is_empty() || audience.contains(&Role::Assistant))
}

fn media<'c>(data: &'c str, mime_type: &'c str, name: Option<&'c str>) -> Part<'c> {
    match Media::new(data, mime_type, name) {
        Ok(media) => Part::Media(media),
        Err(note) => Part::Text(note.into()),
    }
}

fn link(resource: &Resource) -> String {
    let name = resource.title.as_ref().unwrap_or(&resource.name);
    let kind = resource.mime_type.as_ref();
    let kind = kind.map_or_else(String::new, |kind| format!(", {kind}"));
    let size = resource
        .size
        .map_or_else(String::new, |size| format!(", {size} bytes"));
    let about = resource.description.as_ref();
    let about = about.map_or_else(String::new, |about| format!("; {about}"));
    format!("[resource {}: {name}{kind}{size}{about}]", resource.uri)
}

fn resource(embedded: &EmbeddedResource) -> Part<'_> {
    match &embedded.resource {
        ResourceContents::Text(contents) => {
            Part::Text(framed(&contents.uri, &contents.text).into())
        }
        ResourceContents::Blob(contents) => {
            let mime_type = contents.mime_type.as_deref();
            let mime_type = mime_type.unwrap_or("application/octet-stream");
            let name = contents.uri.rsplit('/').next();
            media(
                &contents.blob,
                mime_type,
                name.filter(|name| !name.is_empty()),
            )
        }
        _ => Part::Text("[a resource of an unknown kind]".into()),
    }
}

fn framed(uri: &str, text: &str) -> String {
    format!("[resource {uri}]\n{text}\n[end of {uri}]")
}

fn unknown(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Other(other) => format!("[content of kind `{}`: left out]", other.kind),
        _ => "[content of an unknown kind: left out]".to_owned(),
    }
}

/// Converts a resource into message content, for a user who attaches it.
///
/// Text keeps its URI; pictures become images, and sounds become audio. Other binary data is
/// replaced by a description, because messages of the protocol cannot contain it.
pub fn attachment(contents: &ResourceContents) -> SamplingContent {
    use turnbuckle_protocol::{AudioContent, ImageContent};

    match contents {
        ResourceContents::Text(text) => SamplingContent::text(framed(&text.uri, &text.text)),
        ResourceContents::Blob(blob) => {
            let mime_type = blob
                .mime_type
                .as_deref()
                .unwrap_or("application/octet-stream");
            if mime_type.starts_with("image/") {
                SamplingContent::Image(ImageContent::new(&*blob.blob, mime_type))
            } else if mime_type.starts_with("audio/") {
                SamplingContent::Audio(AudioContent::new(&*blob.blob, mime_type))
            } else {
                let size = blob.blob.len() / 4 * 3;
                SamplingContent::text(format!(
                    "[resource {}: {mime_type}, {size} bytes; this type cannot be part of a message]",
                    blob.uri
                ))
            }
        }
        _ => SamplingContent::text("[a resource of an unknown kind]"),
    }
}
