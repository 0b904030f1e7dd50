//! One message of a conversation with a model.

use serde::{Deserialize, Serialize};

use super::content::{SamplingContent, read_one_or_many, write_one_or_many};
use crate::{Meta, OtherMembers, Role, setter::setters, word::open_words};

/// One message of a conversation with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// The role of the speaker.
    pub role: Role,
    /// The content. Exactly one block until 2025-06-18.
    #[serde(
        serialize_with = "write_one_or_many",
        deserialize_with = "read_one_or_many"
    )]
    pub content: Vec<SamplingContent>,
    /// Metadata that the sender attached (`_meta`). Since 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl SamplingMessage {
    /// Creates a message of this role.
    pub fn new(role: Role, content: impl Into<SamplingContent>) -> Self {
        Self {
            role,
            content: vec![content.into()],
            meta: None,
        }
    }

    /// Creates a message of the user.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::User, content)
    }

    /// Creates a message of the assistant.
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self::new(Role::Assistant, content)
    }
}

setters! {
    impl SamplingMessage {
        fn with_meta(meta: Meta);
    }
}

/// The answer to `sampling/createMessage`: the message of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageResult {
    /// The role of the speaker.
    pub role: Role,
    /// The content. Exactly one block until 2025-06-18.
    #[serde(
        serialize_with = "write_one_or_many",
        deserialize_with = "read_one_or_many"
    )]
    pub content: Vec<SamplingContent>,
    /// The name of the model.
    pub model: String,
    /// Why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl CreateMessageResult {
    /// Creates a message of a model.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![content.into()],
            model: model.into(),
            stop_reason: None,
            meta: None,
            other: OtherMembers::new(),
        }
    }

    /// Returns the text of the message: its text blocks, one per line.
    ///
    /// ```
    /// use turnbuckle_protocol::CreateMessageResult;
    ///
    /// assert_eq!(CreateMessageResult::new("a-model", "Paris").text(), "Paris");
    /// ```
    pub fn text(&self) -> String {
        let texts: Vec<_> = self
            .content
            .iter()
            .filter_map(SamplingContent::as_text)
            .collect();
        texts.join("\n")
    }
}

setters! {
    impl CreateMessageResult {
        fn with_stop_reason(stop_reason: StopReason);
        fn with_meta(meta: Meta);
    }
}

open_words! {
    /// Why a model stopped generating.
    StopReason {
        /// The message is complete.
        EndTurn = "endTurn",
        /// It generated a stop sequence.
        StopSequence = "stopSequence",
        /// It reached the limit on tokens.
        MaxTokens = "maxTokens",
        /// It calls tools. Since 2025-11-25.
        ToolUse = "toolUse",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_piece_is_an_object_and_several_are_an_array() {
        let one = json!({"role": "user", "content": {"type": "text", "text": "hi"}});
        let array_of_one = json!({"role": "user", "content": [{"text": "hi", "type": "text"}]});
        let message: SamplingMessage = serde_json::from_value(one.clone()).unwrap();
        assert_eq!(message, SamplingMessage::user("hi"));
        assert_eq!(
            serde_json::from_value::<SamplingMessage>(array_of_one).unwrap(),
            message
        );
        assert_eq!(serde_json::to_value(&message).unwrap(), one);

        let mut two = message;
        two.content.push("there".into());
        let text = serde_json::to_string(&two).unwrap();
        assert_eq!(serde_json::from_str::<SamplingMessage>(&text).unwrap(), two);
        assert!(
            serde_json::from_str::<SamplingMessage>(r#"{"role":"user","content":"hi"}"#).is_err()
        );
    }

    #[test]
    fn an_unknown_reason_is_kept() {
        let reason: StopReason = serde_json::from_str("\"contentFilter\"").unwrap();
        assert_eq!(reason.as_str(), "contentFilter");
        assert_eq!(StopReason::from("endTurn"), StopReason::EndTurn);
    }
}
