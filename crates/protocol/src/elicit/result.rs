//! The result of elicitation.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{Meta, OtherMembers, setter::setters};

/// The user's action: accept, decline or cancel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ElicitAction {
    /// The user answered the form, or agreed to visit the URL.
    Accept,
    /// The user declined.
    Decline,
    /// The user closed the question without a choice.
    Cancel,
}

/// The answer to `elicitation/create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitResult {
    /// The user's action.
    pub action: ElicitAction,
    /// The values of the fields, if the user accepted a form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<IndexMap<String, ElicitValue>>,
    /// Metadata that the sender attached (`_meta`). Until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl ElicitResult {
    /// Creates the answer of a user who filled in the form.
    ///
    /// ```
    /// # use turnbuckle_protocol::ElicitResult;
    /// let answer = ElicitResult::accept([("seat", "12A")]);
    /// ```
    pub fn accept<K: Into<String>, V: Into<ElicitValue>>(
        content: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let filled = content
            .into_iter()
            .map(|(field, value)| (field.into(), value.into()));
        Self {
            action: ElicitAction::Accept,
            content: Some(filled.collect()),
            meta: None,
            other: OtherMembers::new(),
        }
    }

    /// Creates the answer of a user who agreed to visit the URL.
    pub fn accept_visit() -> Self {
        Self {
            action: ElicitAction::Accept,
            content: None,
            meta: None,
            other: OtherMembers::new(),
        }
    }

    /// Creates the answer of a user who declined.
    pub fn decline() -> Self {
        Self {
            action: ElicitAction::Decline,
            content: None,
            meta: None,
            other: OtherMembers::new(),
        }
    }

    /// Creates the answer of a user who closed the question without a choice.
    pub fn cancel() -> Self {
        Self {
            action: ElicitAction::Cancel,
            content: None,
            meta: None,
            other: OtherMembers::new(),
        }
    }
}

setters! {
    impl ElicitResult {
        fn with_meta(meta: Meta);
    }
}

/// The value of one field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ElicitValue {
    /// Text, or one choice.
    Text(String),
    /// A number.
    Number(Number),
    /// A boolean.
    Boolean(bool),
    /// Several choices. Since 2025-11-25.
    Choices(Vec<String>),
}

impl From<&str> for ElicitValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for ElicitValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for ElicitValue {
    fn from(number: i64) -> Self {
        Self::Number(number.into())
    }
}

impl From<Number> for ElicitValue {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for ElicitValue {
    fn from(choice: bool) -> Self {
        Self::Boolean(choice)
    }
}

impl From<Vec<String>> for ElicitValue {
    fn from(choices: Vec<String>) -> Self {
        Self::Choices(choices)
    }
}
