//! Asking the client during a request, since 2026-07-28: the server answers with its questions, and the
//! client sends the request again with the answers.

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::SerializeStruct};
use serde_json::Value;

use crate::{
    CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams, ElicitResult,
    ListRootsResult, Meta, OtherMembers, RequestParams,
    setter::setters,
    tagged::{self, Tagged},
    task_metadata::TaskMetadata,
};

/// The requests of a server to the client, by keys that the server chooses.
pub type InputRequests = IndexMap<String, InputRequest>;

/// The answers of a client, by the keys of the requests.
pub type InputResponses = IndexMap<String, InputResponse>;

/// A question in an `input_required` result: elicitation, sampling or roots.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputRequest {
    /// Sampling: `sampling/createMessage`.
    CreateMessage(Box<CreateMessageRequestParams>),
    /// The roots: `roots/list`.
    ListRoots(RequestParams),
    /// Elicitation: `elicitation/create`.
    Elicit(Box<ElicitRequestParams>),
}

impl InputRequest {
    /// Returns the method of the request that asks the same question in a session.
    pub fn method(&self) -> &'static str {
        match self {
            Self::CreateMessage(_) => "sampling/createMessage",
            Self::ListRoots(_) => "roots/list",
            Self::Elicit(_) => "elicitation/create",
        }
    }

    /// Returns the task that the answer should become, if any. Only in 2025-11-25.
    pub fn task(&self) -> Option<&TaskMetadata> {
        match self {
            Self::CreateMessage(params) => params.task.as_ref(),
            Self::ListRoots(_) => None,
            Self::Elicit(params) => match &**params {
                ElicitRequestParams::Form(form) => form.task.as_ref(),
                ElicitRequestParams::Url(url) => url.task.as_ref(),
            },
        }
    }

    /// Requests that the answer become a task. `roots/list` has no tasks. Only in 2025-11-25.
    pub fn set_task(&mut self, task: TaskMetadata) {
        match self {
            Self::CreateMessage(params) => params.task = Some(task),
            Self::ListRoots(_) => {}
            Self::Elicit(params) => match &mut **params {
                ElicitRequestParams::Form(form) => form.task = Some(task),
                ElicitRequestParams::Url(url) => url.task = Some(task),
            },
        }
    }

    /// Metadata that the sender attached (`_meta`). Until 2025-11-25.
    pub fn meta_mut(&mut self) -> &mut Option<Meta> {
        match self {
            Self::CreateMessage(params) => &mut params.meta,
            Self::ListRoots(params) => &mut params.meta,
            Self::Elicit(params) => match &mut **params {
                ElicitRequestParams::Form(form) => &mut form.meta,
                ElicitRequestParams::Url(url) => &mut url.meta,
            },
        }
    }
}

impl From<CreateMessageRequestParams> for InputRequest {
    fn from(params: CreateMessageRequestParams) -> Self {
        Self::CreateMessage(Box::new(params))
    }
}

impl<T: Into<ElicitRequestParams>> From<T> for InputRequest {
    fn from(params: T) -> Self {
        Self::Elicit(Box::new(params.into()))
    }
}

impl Serialize for InputRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("InputRequest", 2)?;
        object.serialize_field("method", self.method())?;
        match self {
            Self::CreateMessage(params) => object.serialize_field("params", params)?,
            Self::ListRoots(RequestParams { meta: None, other }) if other.is_empty() => {
                object.skip_field("params")?;
            }
            Self::ListRoots(params) => object.serialize_field("params", params)?,
            Self::Elicit(params) => object.serialize_field("params", params)?,
        }
        object.end()
    }
}

impl<'de> Tagged<'de> for InputRequest {
    const TAG: &'static str = "method";

    fn read<D: Deserializer<'de>>(tag: Option<&str>, rest: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Required<T> {
            params: T,
        }
        #[derive(Deserialize)]
        struct Optional {
            params: Option<RequestParams>,
        }

        match tag {
            Some("sampling/createMessage") => {
                Required::deserialize(rest).map(|request| Self::CreateMessage(request.params))
            }
            Some("roots/list") => Optional::deserialize(rest)
                .map(|request| Self::ListRoots(request.params.unwrap_or_default())),
            Some("elicitation/create") => {
                Required::deserialize(rest).map(|request| Self::Elicit(request.params))
            }
            other => {
                let known = "sampling/createMessage, roots/list, elicitation/create";
                Err(tagged::unknown(Self::TAG, other, known))
            }
        }
    }
}

impl<'de> Deserialize<'de> for InputRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        tagged::deserialize(deserializer)
    }
}

/// One answer of a client. It does not contain its kind, which follows from its members and from the
/// question that the server asked under the key.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum InputResponse {
    /// The result of sampling.
    CreateMessage(Box<CreateMessageResult>),
    /// The roots.
    ListRoots(ListRootsResult),
    /// The result of elicitation.
    Elicit(ElicitResult),
    /// Anything else. It is an error only under the key of a question.
    Unrecognised(Value),
}

impl InputResponse {
    /// Returns the result of sampling, if the answer is one.
    pub fn as_message(&self) -> Option<&CreateMessageResult> {
        match self {
            Self::CreateMessage(result) => Some(result),
            _ => None,
        }
    }

    /// Returns the roots, if the answer is a list of roots.
    pub fn as_roots(&self) -> Option<&ListRootsResult> {
        match self {
            Self::ListRoots(result) => Some(result),
            _ => None,
        }
    }

    /// Returns the result of elicitation, if the answer is one.
    pub fn as_elicitation(&self) -> Option<&ElicitResult> {
        match self {
            Self::Elicit(result) => Some(result),
            _ => None,
        }
    }
}

impl From<Value> for InputResponse {
    fn from(value: Value) -> Self {
        let typed = if value.get("action").is_some() {
            ElicitResult::deserialize(&value).ok().map(Self::Elicit)
        } else if value.get("roots").is_some() {
            ListRootsResult::deserialize(&value)
                .ok()
                .map(Self::ListRoots)
        } else {
            CreateMessageResult::deserialize(&value)
                .ok()
                .map(|result| Self::CreateMessage(result.into()))
        };
        typed.unwrap_or(Self::Unrecognised(value))
    }
}

impl<'de> Deserialize<'de> for InputResponse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::from)
    }
}

impl From<CreateMessageResult> for InputResponse {
    fn from(result: CreateMessageResult) -> Self {
        Self::CreateMessage(Box::new(result))
    }
}

impl From<ListRootsResult> for InputResponse {
    fn from(result: ListRootsResult) -> Self {
        Self::ListRoots(result)
    }
}

impl From<ElicitResult> for InputResponse {
    fn from(result: ElicitResult) -> Self {
        Self::Elicit(result)
    }
}

/// A result with the server's questions. At least one of its first two fields is set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// The requests to the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests>,
    /// The server's state, which the client sends back unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<String>,
    /// Metadata that the sender attached (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
    /// Members that the specification does not name.
    #[serde(flatten, deserialize_with = "OtherMembers::of_result")]
    pub other: OtherMembers,
}

impl InputRequiredResult {
    /// Creates a result with these questions.
    pub fn new(requests: InputRequests) -> Self {
        Self {
            input_requests: Some(requests),
            ..Self::default()
        }
    }

    /// Sets the state that the client sends back.
    pub fn with_state(mut self, state: impl Into<String>) -> Self {
        self.request_state = Some(state.into());
        self
    }
}

setters! {
    impl InputRequiredResult {
        fn with_meta(meta: Meta);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_malformed_answer_does_not_spoil_the_others() {
        let responses: InputResponses = serde_json::from_value(json!({
            "seat": {"action": "accept", "content": {"row": 3}},
            "dirs": {"roots": []},
            "said": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}},
            "junk": {"action": "shrug"},
            "more": 7,
        }))
        .unwrap();
        assert!(responses["seat"].as_elicitation().is_some());
        assert!(responses["dirs"].as_roots().is_some());
        assert!(responses["said"].as_message().is_some());
        assert_eq!(
            responses["junk"],
            InputResponse::Unrecognised(json!({"action": "shrug"}))
        );
        assert_eq!(responses["more"], InputResponse::Unrecognised(json!(7)));
    }

    #[test]
    fn params_may_come_before_the_method() {
        let json = json!({"params": {"_meta": {"a": 1}}, "method": "roots/list"});
        let request: InputRequest = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&request).unwrap(), json);
        let json = json!({"method": "roots/list"});
        let request: InputRequest = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&request).unwrap(), json);
        assert!(serde_json::from_value::<InputRequest>(json!({"method": "tools/call"})).is_err());
    }
}
