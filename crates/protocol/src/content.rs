//! Content blocks: text, images, audio and resources.

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    Annotations, Meta, OtherContent, OtherMembers, Resource, ResourceContents,
    envelope::write_string,
    setter::setters,
    tagged::{self, Tagged},
};

/// One piece of content.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// Audio.
    Audio(AudioContent),
    /// A link to a resource, which can be read if it is needed.
    ResourceLink(Box<ResourceLink>),
    /// A resource with its contents.
    Resource(Box<EmbeddedResource>),
    /// A content type that this version does not know.
    Other(Box<OtherContent>),
}

impl ContentBlock {
    /// Creates text without annotations.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// Creates an image from base64 data and its media type.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(data, mime_type))
    }

    /// Creates audio from base64 data and its media type.
    pub fn audio(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(data, mime_type))
    }

    /// Creates a link to a resource.
    pub fn link(resource: Resource) -> Self {
        Self::ResourceLink(Box::new(ResourceLink { resource }))
    }

    /// Creates a block with the contents of a resource.
    pub fn resource(contents: impl Into<ResourceContents>) -> Self {
        Self::Resource(Box::new(EmbeddedResource::new(contents)))
    }

    /// Appends the block as JSON. Text is escaped many bytes at a time.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        match self {
            Self::Text(TextContent {
                text,
                annotations: None,
                meta: None,
                other,
            }) if other.is_empty() => {
                out.extend_from_slice(br#"{"type":"text","text":"#);
                write_string(out, text);
                out.push(b'}');
                Ok(())
            }
            other => serde_json::to_writer(out, other),
        }
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl<'de> Tagged<'de> for ContentBlock {
    const TAG: &'static str = "type";

    fn read<D: Deserializer<'de>>(tag: Option<&str>, rest: D) -> Result<Self, D::Error> {
        Ok(match tag {
            Some("text") => Self::Text(TextContent::deserialize(rest)?),
            Some("image") => Self::Image(ImageContent::deserialize(rest)?),
            Some("audio") => Self::Audio(AudioContent::deserialize(rest)?),
            Some("resource_link") => Self::ResourceLink(Box::deserialize(rest)?),
            Some("resource") => Self::Resource(Box::deserialize(rest)?),
            Some(other) => Self::Other(Box::new(OtherContent::read(other, rest)?)),
            None => {
                let known = "text, image, audio, resource_link, resource";
                return Err(tagged::unknown(Self::TAG, None, known));
            }
        })
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ContentBlock {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<TextContent> for ContentBlock {
    fn from(text: TextContent) -> Self {
        Self::Text(text)
    }
}

impl From<ImageContent> for ContentBlock {
    fn from(image: ImageContent) -> Self {
        Self::Image(image)
    }
}

impl From<AudioContent> for ContentBlock {
    fn from(audio: AudioContent) -> Self {
        Self::Audio(audio)
    }
}

impl From<ResourceLink> for ContentBlock {
    fn from(link: ResourceLink) -> Self {
        Self::ResourceLink(Box::new(link))
    }
}

impl From<EmbeddedResource> for ContentBlock {
    fn from(resource: EmbeddedResource) -> Self {
        Self::Resource(Box::new(resource))
    }
}

/// Text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "text")]
#[non_exhaustive]
pub struct TextContent {
    /// The text.
    pub text: String,
    /// The audience and the priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::without_type")]
    pub other: OtherMembers,
}

impl TextContent {
    /// Creates text without annotations.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            annotations: None,
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl TextContent {
        fn with_annotations(annotations: Annotations);
        fn with_meta(meta: Meta);
    }
}

/// An image.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "image", rename_all = "camelCase")]
#[non_exhaustive]
pub struct ImageContent {
    /// The image in base64.
    pub data: String,
    /// The media type.
    pub mime_type: String,
    /// The audience and the priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::without_type")]
    pub other: OtherMembers,
}

impl ImageContent {
    /// Creates an image from base64 data and its media type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl ImageContent {
        fn with_annotations(annotations: Annotations);
        fn with_meta(meta: Meta);
    }
}

/// Audio. Since 2025-03-26.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "audio", rename_all = "camelCase")]
#[non_exhaustive]
pub struct AudioContent {
    /// The audio in base64.
    pub data: String,
    /// The media type.
    pub mime_type: String,
    /// The audience and the priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::without_type")]
    pub other: OtherMembers,
}

impl AudioContent {
    /// Creates audio from base64 data and its media type.
    pub fn new(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self {
            data: data.into(),
            mime_type: mime_type.into(),
            annotations: None,
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl AudioContent {
        fn with_annotations(annotations: Annotations);
        fn with_meta(meta: Meta);
    }
}

/// A link to a resource, which can be read if it is needed. The resource need not be listed. Since
/// 2025-06-18.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceLink {
    /// The resource that the link points to.
    pub resource: Resource,
}

impl ResourceLink {
    /// Creates a link to the resource at this URI, with this name. Set other members on `resource`, or
    /// convert a [`Resource`].
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            resource: Resource::new(uri, name),
        }
    }
}

impl From<Resource> for ResourceLink {
    fn from(resource: Resource) -> Self {
        Self { resource }
    }
}

impl Serialize for ResourceLink {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(tag = "type", rename = "resource_link")]
        struct Link<'a> {
            #[serde(flatten)]
            resource: &'a Resource,
        }

        Link {
            resource: &self.resource,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ResourceLink {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self {
            resource: Resource::deserialize(deserializer)?,
        })
    }
}

/// A resource with its contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "resource")]
#[non_exhaustive]
pub struct EmbeddedResource {
    /// The contents.
    pub resource: ResourceContents,
    /// The audience and the priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::without_type")]
    pub other: OtherMembers,
}

impl EmbeddedResource {
    /// Creates a block with these contents, without annotations.
    pub fn new(contents: impl Into<ResourceContents>) -> Self {
        Self {
            resource: contents.into(),
            annotations: None,
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl EmbeddedResource {
        fn with_annotations(annotations: Annotations);
        fn with_meta(meta: Meta);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::TextResourceContents;

    fn blocks() -> [ContentBlock; 5] {
        [
            ContentBlock::text("hello"),
            ContentBlock::image("aGk=", "image/png"),
            ContentBlock::audio("aGk=", "audio/wav"),
            ContentBlock::link(Resource::new("file:///a", "a")),
            ContentBlock::resource(TextResourceContents::new("file:///a", "hello")),
        ]
    }

    #[test]
    fn every_kind_comes_back_whatever_the_order_of_its_members() {
        for block in blocks() {
            let text = serde_json::to_string(&block).unwrap();
            assert!(text.starts_with(r#"{"type":"#), "{text}");
            assert_eq!(serde_json::from_str::<ContentBlock>(&text).unwrap(), block);

            let Value::Object(members) = serde_json::to_value(&block).unwrap() else {
                panic!()
            };
            let reversed: crate::JsonObject = members.into_iter().rev().collect();
            let text = serde_json::to_string(&reversed).unwrap();
            assert!(!text.starts_with(r#"{"type":"#), "{text}");
            assert_eq!(serde_json::from_str::<ContentBlock>(&text).unwrap(), block);
            assert_eq!(
                serde_json::from_value::<ContentBlock>(reversed.into()).unwrap(),
                block
            );
        }
    }

    #[test]
    fn an_unknown_kind_is_kept_among_the_others_whatever_the_order_of_its_members() {
        for video in [
            r#"{"type":"video","data":{"n":1},"_meta":{"a":1}}"#,
            r#"{"data":{"n":1},"type":"video","_meta":{"a":1}}"#,
        ] {
            let list = format!(r#"[{{"type":"text","text":"a"}},{video}]"#);
            let mut blocks: Vec<ContentBlock> = serde_json::from_str(&list).unwrap();
            assert_eq!(blocks[0], ContentBlock::text("a"));
            for &revision in crate::Revision::ALL {
                crate::Lower::lower(&mut blocks[1], revision);
                let back: Value = serde_json::to_value(&blocks[1]).unwrap();
                let before: Value = serde_json::from_str(video).unwrap();
                assert_eq!(back, before, "{revision}");
            }
        }
    }

    #[test]
    fn a_wrong_kind_is_named() {
        for (json, expected) in [
            (json!({"text": "hello"}), "`type` is missing"),
            (
                json!({"text": "hello", "type": 3}),
                "`type` is not a string",
            ),
            (json!({"type": "text"}), "missing field `text`"),
        ] {
            let error = serde_json::from_value::<ContentBlock>(json)
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
