//! `tools/call`: its params and its results.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::{
    ContentBlock, InputResponses, Meta, OtherMembers, json, setter::setters,
    task_metadata::TaskMetadata,
};

/// The params of `tools/call`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolRequestParams {
    /// The name of the tool.
    pub name: String,
    /// The arguments: an object, kept as text until the type of the tool's arguments is known.
    #[serde(
        default,
        deserialize_with = "json::raw_object",
        skip_serializing_if = "Option::is_none"
    )]
    pub arguments: Option<Box<RawValue>>,
    /// The answers to the server's questions of the previous round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses>,
    /// The state that the server sent in the previous round, unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Requests that the call become a task. Only in 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CallToolRequestParams {
    /// Creates a call without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Sets the arguments. They are serialised once.
    ///
    /// # Errors
    /// Fails if the value cannot be serialised as JSON, or is not an object.
    pub fn with_arguments<T: Serialize + ?Sized>(
        mut self,
        arguments: &T,
    ) -> Result<Self, serde_json::Error> {
        let raw = json::to_raw(arguments)?;
        if !json::is_object(&raw) {
            return Err(serde::ser::Error::custom(
                "the arguments of a tool must be an object",
            ));
        }
        self.arguments = Some(raw);
        Ok(self)
    }
}

setters! {
    impl CallToolRequestParams {
        fn with_input_responses(input_responses: InputResponses);
        fn with_request_state(request_state: impl Into<String>);
        fn with_task(task: TaskMetadata);
        fn with_meta(meta: Meta);
    }
}

impl PartialEq for CallToolRequestParams {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && json::is_same_option(self.arguments.as_deref(), other.arguments.as_deref())
            && self.input_responses == other.input_responses
            && self.request_state == other.request_state
            && self.task == other.task
            && self.meta == other.meta
    }
}

/// The result of a tool call.
///
/// ```
/// use turnbuckle_protocol::{CallToolResult, ContentBlock};
///
/// let result = CallToolResult::structured(&serde_json::json!({"celsius": 21}))?;
/// assert_eq!(result.content, [ContentBlock::text(r#"{"celsius":21}"#)]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CallToolResult {
    /// The content, for the model.
    pub content: Vec<ContentBlock>,
    /// The structured content for programs, as JSON text. An object until 2025-11-25, any JSON since
    /// then.
    #[serde(
        default,
        deserialize_with = "json::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Box<RawValue>>,
    /// Whether the tool failed; if so, the content says why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl CallToolResult {
    /// Creates a result with content only.
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// Creates a result with a single text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }

    /// Creates a result with structured content, serialised once, and with the same JSON as text for
    /// peers that only read content.
    pub fn structured<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        let raw = json::to_raw(value)?;
        Ok(Self {
            structured_content: Some(raw.clone()),
            ..Self::text(String::from(Box::<str>::from(raw)))
        })
    }

    /// Creates a failed result, with a text for the model.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: Some(true),
            ..Self::text(text)
        }
    }

    /// Appends the result as JSON. The output is the same as that of serde, but text is escaped many
    /// bytes at a time.
    ///
    /// # Errors
    /// Fails if a value cannot be serialised as JSON.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        out.extend_from_slice(br#"{"content":["#);
        for (index, block) in self.content.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            block.write(out)?;
        }
        out.push(b']');
        if let Some(structured) = &self.structured_content {
            out.extend_from_slice(br#","structuredContent":"#);
            out.extend_from_slice(structured.get().as_bytes());
        }
        if let Some(is_error) = self.is_error {
            let text: &[u8] = if is_error {
                br#","isError":true"#
            } else {
                br#","isError":false"#
            };
            out.extend_from_slice(text);
        }
        if let Some(meta) = &self.meta {
            out.extend_from_slice(br#","_meta":"#);
            serde_json::to_writer(&mut *out, meta)?;
        }
        for (name, value) in self.other.iter() {
            out.push(b',');
            serde_json::to_writer(&mut *out, name)?;
            out.push(b':');
            serde_json::to_writer(&mut *out, value)?;
        }
        out.push(b'}');
        Ok(())
    }

    /// Returns whether the tool failed.
    pub fn is_error(&self) -> bool {
        self.is_error.unwrap_or(false)
    }
}

/// A JSON object becomes structured content, and the same text. Any other value becomes text only:
/// structured content is an object in all revisions up to 2025-11-25.
impl From<Value> for CallToolResult {
    fn from(value: Value) -> Self {
        let structured = value.is_object().then(|| Self::structured(&value));
        structured
            .and_then(Result::ok)
            .unwrap_or_else(|| Self::text(value.to_string()))
    }
}

setters! {
    impl CallToolResult {
        fn with_is_error(is_error: bool);
        fn with_meta(meta: Meta);
    }
}

impl PartialEq for CallToolResult {
    fn eq(&self, other: &Self) -> bool {
        let (left, right) = (&self.structured_content, &other.structured_content);
        self.content == other.content
            && json::is_same_option(left.as_deref(), right.as_deref())
            && self.is_error == other.is_error
            && self.meta == other.meta
            && self.other == other.other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ContentBlock;

    #[test]
    fn a_result_is_written_as_it_is_serialised() {
        let image = ContentBlock::image("AAAA", "image/png");
        let annotated = ContentBlock::Text(crate::TextContent {
            annotations: Some(crate::Annotations::default()),
            ..crate::TextContent::new("a \"note\"\n")
        });
        let full = CallToolResult {
            content: vec![ContentBlock::text("line\nline \u{1}"), image, annotated],
            structured_content: Some(json::to_raw(&serde_json::json!({"a": [1, "x"]})).unwrap()),
            is_error: Some(false),
            meta: Some(Meta::new().with("k", 1)),
            other: OtherMembers::new(),
        };
        for result in [CallToolResult::default(), CallToolResult::error("no"), full] {
            let mut out = Vec::new();
            result.write(&mut out).unwrap();
            assert_eq!(
                String::from_utf8(out).unwrap(),
                serde_json::to_string(&result).unwrap()
            );
        }
    }
}
