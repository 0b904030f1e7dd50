//! The params of elicitation.

use serde::{Deserialize, Deserializer, Serialize};

use super::ElicitSchema;
use crate::{
    Meta,
    setter::setters,
    tagged::{self, Tagged},
    task_metadata::TaskMetadata,
};

/// The params of `elicitation/create`: a form, or a URL to visit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum ElicitRequestParams {
    /// A form to fill in.
    Form(ElicitRequestFormParams),
    /// A URL to visit. Since 2025-11-25.
    Url(ElicitRequestUrlParams),
}

impl ElicitRequestParams {
    /// Returns the message for the user.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(form) => &form.message,
            Self::Url(url) => &url.message,
        }
    }
}

impl<'de> Tagged<'de> for ElicitRequestParams {
    const TAG: &'static str = "mode";

    /// A request without a mode is a form.
    fn read<D: Deserializer<'de>>(tag: Option<&str>, rest: D) -> Result<Self, D::Error> {
        match tag {
            None => ElicitRequestFormParams::deserialize(rest).map(Self::Form),
            Some("form") => {
                let mut form = ElicitRequestFormParams::deserialize(rest)?;
                form.mode = Some(FormMode::Form);
                Ok(Self::Form(form))
            }
            Some("url") => ElicitRequestUrlParams::deserialize(rest).map(Self::Url),
            other => Err(tagged::unknown(Self::TAG, other, "form, url")),
        }
    }
}

impl<'de> Deserialize<'de> for ElicitRequestParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

impl From<ElicitRequestFormParams> for ElicitRequestParams {
    fn from(form: ElicitRequestFormParams) -> Self {
        Self::Form(form)
    }
}

impl From<ElicitRequestUrlParams> for ElicitRequestParams {
    fn from(url: ElicitRequestUrlParams) -> Self {
        Self::Url(url)
    }
}

/// A form to fill in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitRequestFormParams {
    /// The mode. A request without a mode is a form, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<FormMode>,
    /// The message for the user.
    pub message: String,
    /// The fields of the form.
    pub requested_schema: ElicitSchema,
    /// Requests that the form become a task. Only in 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Metadata that the sender attached (`_meta`). Until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ElicitRequestFormParams {
    /// Creates a form with these fields.
    pub fn new(message: impl Into<String>, requested_schema: ElicitSchema) -> Self {
        Self {
            mode: Some(FormMode::Form),
            message: message.into(),
            requested_schema,
            task: None,
            meta: None,
        }
    }
}

setters! {
    impl ElicitRequestFormParams {
        fn with_task(task: TaskMetadata);
        fn with_meta(meta: Meta);
    }
}

/// The mode of a form.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FormMode {
    /// `form`.
    #[default]
    Form,
}

/// A URL to visit. Since 2025-11-25.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "mode", rename = "url", rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitRequestUrlParams {
    /// The message for the user.
    pub message: String,
    /// The URL to visit.
    pub url: String,
    /// The id of the visit, for the notification of its end. Only in 2025-11-25, which requires it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// Requests that the visit become a task. Only in 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Metadata that the sender attached (`_meta`). Until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ElicitRequestUrlParams {
    /// Creates a request to visit a URL.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            url: url.into(),
            elicitation_id: None,
            task: None,
            meta: None,
        }
    }
}

setters! {
    impl ElicitRequestUrlParams {
        fn with_elicitation_id(elicitation_id: impl Into<String>);
        fn with_task(task: TaskMetadata);
        fn with_meta(meta: Meta);
    }
}

/// The params of `notifications/elicitation/complete`: the user is done at a URL. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCompleteNotificationParams {
    /// The id of the visit.
    pub elicitation_id: String,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl ElicitationCompleteNotificationParams {
    /// Creates the params for the visit with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            elicitation_id: id.into(),
            meta: None,
        }
    }
}

setters! {
    impl ElicitationCompleteNotificationParams {
        fn with_meta(meta: Meta);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // rule: E1
    #[test]
    fn a_request_without_a_mode_is_a_form_and_stays_one() {
        let json = json!({
            "message": "Name?",
            "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
        });
        let params: ElicitRequestParams = serde_json::from_value(json.clone()).unwrap();
        assert!(matches!(&params, ElicitRequestParams::Form(form) if form.mode.is_none()));
        assert_eq!(serde_json::to_value(&params).unwrap(), json);
    }

    #[test]
    fn the_mode_may_come_last() {
        let json = r#"{"message":"Go","url":"https://a.example","mode":"url"}"#;
        let params: ElicitRequestParams = serde_json::from_str(json).unwrap();
        assert_eq!(
            params,
            ElicitRequestUrlParams::new("Go", "https://a.example").into()
        );
        assert!(serde_json::from_str::<ElicitRequestParams>(r#"{"mode":"fax"}"#).is_err());
    }
}
