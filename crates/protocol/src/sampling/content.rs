//! The content of messages in sampling, including tool calls.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{
        MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use serde_json::Value;

use crate::{
    AudioContent, ContentBlock, ImageContent, JsonObject, Meta, OtherMembers, TextContent, json,
    setter::setters,
    tagged::{self, Tagged},
};

/// One content block of a message.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum SamplingContent {
    /// Text.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// Audio. Since 2025-03-26.
    Audio(AudioContent),
    /// A tool call of the model. Since 2025-11-25.
    ToolUse(ToolUseContent),
    /// The result of a tool call. Since 2025-11-25.
    ToolResult(ToolResultContent),
}

impl SamplingContent {
    /// Creates text without annotations.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(content) => Some(&content.text),
            _ => None,
        }
    }
}

impl From<&str> for SamplingContent {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for SamplingContent {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl<'de> Tagged<'de> for SamplingContent {
    const TAG: &'static str = "type";

    fn read<D: Deserializer<'de>>(tag: Option<&str>, rest: D) -> Result<Self, D::Error> {
        Ok(match tag {
            Some("text") => Self::Text(TextContent::deserialize(rest)?),
            Some("image") => Self::Image(ImageContent::deserialize(rest)?),
            Some("audio") => Self::Audio(AudioContent::deserialize(rest)?),
            Some("tool_use") => Self::ToolUse(ToolUseContent::deserialize(rest)?),
            Some("tool_result") => Self::ToolResult(ToolResultContent::deserialize(rest)?),
            other => {
                let known = "text, image, audio, tool_use, tool_result";
                return Err(tagged::unknown(Self::TAG, other, known));
            }
        })
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

/// A tool call of the model. Since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool_use")]
#[non_exhaustive]
pub struct ToolUseContent {
    /// The id of the call, which its result repeats.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub input: JsonObject,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::without_type")]
    pub other: OtherMembers,
}

impl ToolUseContent {
    /// Creates a tool call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: JsonObject) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            input,
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl ToolUseContent {
        fn with_meta(meta: Meta);
    }
}

/// The result of a tool call, for the model. Since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "tool_result", rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolResultContent {
    /// The id of the call.
    pub tool_use_id: String,
    /// The content, for the model.
    pub content: Vec<ContentBlock>,
    /// The structured content. An object in 2025-11-25, any JSON since.
    #[serde(
        default,
        deserialize_with = "json::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Value>,
    /// Whether the tool failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::without_type")]
    pub other: OtherMembers,
}

impl ToolResultContent {
    /// Creates the result of a call.
    pub fn new(tool_use_id: impl Into<String>, content: Vec<ContentBlock>) -> Self {
        Self {
            tool_use_id: tool_use_id.into(),
            content,
            ..Self::default()
        }
    }
}

setters! {
    impl ToolResultContent {
        fn with_structured_content(structured_content: impl Into<Value>);
        fn with_is_error(is_error: bool);
        fn with_meta(meta: Meta);
    }
}

/// Writes a single block as an object, which every revision can read, and any other number as an array.
pub(super) fn write_one_or_many<S: Serializer>(
    content: &[SamplingContent],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match content {
        [one] => one.serialize(serializer),
        many => many.serialize(serializer),
    }
}

/// Reads an object, or an array of objects.
pub(super) fn read_one_or_many<'de, D>(deserializer: D) -> Result<Vec<SamplingContent>, D::Error>
where
    D: Deserializer<'de>,
{
    struct OneOrMany;

    impl<'de> Visitor<'de> for OneOrMany {
        type Value = Vec<SamplingContent>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a piece of content or an array of them")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            Ok(vec![SamplingContent::deserialize(
                MapAccessDeserializer::new(map),
            )?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(seq))
        }
    }

    deserializer.deserialize_any(OneOrMany)
}
