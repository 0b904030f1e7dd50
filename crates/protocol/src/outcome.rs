//! `resultType`: whether a result is complete, asks for input, or is a task.
//!
//! Results do not contain it themselves; the types here write it and read it. Peers of older revisions
//! leave it out, which means complete.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{
        self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, Visitor,
        value::MapAccessDeserializer,
    },
};
use serde_json::value::RawValue;

use crate::{
    CallToolResult, ContentBlock, CreateTaskResult, InputRequests, InputRequiredResult,
    LegacyCreateTaskResult, LegacyTask, Meta, OtherMembers, TaskStatus, json,
};

/// The member of a result that contains its type.
const RESULT_TYPE: &str = "resultType";

/// The type of a result. An unknown type makes the result invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResultType {
    /// The result of the request.
    #[default]
    Complete,
    /// The server needs input first.
    InputRequired,
    /// The request has become a task (the tasks extension).
    Task,
}

impl ResultType {
    /// Returns the text on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::InputRequired => "input_required",
            Self::Task => "task",
        }
    }
}

/// A response that can only be the result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Complete<T>(pub T);

/// A response to a request during which the server may ask: `prompts/get`, `resources/read`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome<T> {
    /// The result of the request.
    Complete(T),
    /// The server needs input first.
    InputRequired(InputRequiredResult),
}

/// A response to `tools/call`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallToolOutcome {
    /// The result of the call.
    Complete(CallToolResult),
    /// The server needs input first.
    InputRequired(InputRequiredResult),
    /// The call became a task.
    Task(CreateTaskResult),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Typed<'a, T> {
    result_type: ResultType,
    #[serde(flatten)]
    result: &'a T,
}

fn write<T, S>(result_type: ResultType, result: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Serialize,
    S: Serializer,
{
    Typed {
        result_type,
        result,
    }
    .serialize(serializer)
}

impl<T: Serialize> Serialize for Complete<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write(ResultType::Complete, &self.0, serializer)
    }
}

impl<T: Serialize> Serialize for Outcome<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Complete(result) => write(ResultType::Complete, result, serializer),
            Self::InputRequired(result) => write(ResultType::InputRequired, result, serializer),
        }
    }
}

impl Serialize for CallToolOutcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Complete(result) => write(ResultType::Complete, result, serializer),
            Self::InputRequired(result) => write(ResultType::InputRequired, result, serializer),
            Self::Task(task) => write(ResultType::Task, task, serializer),
        }
    }
}

fn unexpected<E: de::Error>(result_type: ResultType) -> E {
    E::custom(format_args!(
        "this request cannot be answered with a result of type `{}`",
        result_type.as_str()
    ))
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Complete<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CompleteVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for CompleteVisitor<T> {
            type Value = Complete<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a result")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(Untyped { map })).map(Complete)
            }
        }

        deserializer.deserialize_map(CompleteVisitor(PhantomData))
    }
}

/// The members of a result without its type, which must be `complete` if it is present.
struct Untyped<A> {
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Untyped<A> {
    type Error = A::Error;

    fn next_key_seed<K>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error>
    where
        K: DeserializeSeed<'de>,
    {
        while let Some(json::Text(name)) = self.map.next_key()? {
            if name != RESULT_TYPE {
                return seed.deserialize(name.into_deserializer()).map(Some);
            }
            match self.map.next_value()? {
                ResultType::Complete => {}
                other => return Err(unexpected(other)),
            }
        }
        Ok(None)
    }

    fn next_value_seed<V>(&mut self, seed: V) -> Result<V::Value, A::Error>
    where
        V: DeserializeSeed<'de>,
    {
        self.map.next_value_seed(seed)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Outcome<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Peek {
            #[serde(default)]
            result_type: ResultType,
        }

        // The type may come last, so the text is kept until the type is known.
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let Peek { result_type } = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
        match result_type {
            ResultType::Complete => serde_json::from_str(raw.get()).map(Self::Complete),
            ResultType::InputRequired => serde_json::from_str(raw.get()).map(Self::InputRequired),
            ResultType::Task => return Err(unexpected(result_type)),
        }
        .map_err(de::Error::custom)
    }
}

/// All members that a response to `tools/call` can have. They are read in one pass, and the type of the
/// response is determined at the end.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallToolMembers {
    result_type: Option<ResultType>,
    content: Option<Vec<ContentBlock>>,
    #[serde(default, deserialize_with = "json::present")]
    structured_content: Option<Box<RawValue>>,
    is_error: Option<bool>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
    input_requests: Option<InputRequests>,
    request_state: Option<String>,
    task: Option<LegacyTask>,
    task_id: Option<String>,
    status: Option<TaskStatus>,
    status_message: Option<String>,
    created_at: Option<String>,
    last_updated_at: Option<String>,
    #[serde(default, deserialize_with = "json::millis")]
    ttl_ms: Option<u64>,
    #[serde(default, deserialize_with = "json::millis")]
    poll_interval_ms: Option<u64>,
    #[serde(flatten)]
    other: OtherMembers,
}

impl CallToolMembers {
    fn into_task<E: de::Error>(self) -> Result<CreateTaskResult, E> {
        let missing = E::missing_field;
        Ok(CreateTaskResult {
            task_id: self.task_id.ok_or_else(|| missing("taskId"))?,
            status: self.status.ok_or_else(|| missing("status"))?,
            status_message: self.status_message,
            created_at: self.created_at.ok_or_else(|| missing("createdAt"))?,
            last_updated_at: self
                .last_updated_at
                .ok_or_else(|| missing("lastUpdatedAt"))?,
            ttl_ms: self.ttl_ms,
            poll_interval_ms: self.poll_interval_ms,
            meta: self.meta,
            other: self.other,
        })
    }

    fn into_result<E: de::Error>(self) -> Result<CallToolResult, E> {
        Ok(CallToolResult {
            content: self.content.ok_or_else(|| E::missing_field("content"))?,
            structured_content: self.structured_content,
            is_error: self.is_error,
            meta: self.meta,
            other: self.other,
        })
    }
}

impl<'de> Deserialize<'de> for CallToolOutcome {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = CallToolMembers::deserialize(deserializer)?;
        match (members.result_type, members.task.take()) {
            // 2025-11-25 wraps the task and has no result type.
            (None, Some(task)) => {
                let result = LegacyCreateTaskResult {
                    task,
                    meta: members.meta,
                    other: members.other,
                };
                Ok(Self::Task(result.into()))
            }
            (Some(ResultType::InputRequired), _) => Ok(Self::InputRequired(InputRequiredResult {
                input_requests: members.input_requests,
                request_state: members.request_state,
                meta: members.meta,
                other: members.other,
            })),
            (Some(ResultType::Task), _) => members.into_task().map(Self::Task),
            (Some(ResultType::Complete) | None, _) => members.into_result().map(Self::Complete),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{EmptyResult, GetPromptResult, ListToolsResult};

    // rule: J7
    #[test]
    fn a_type_that_is_absent_means_complete_and_one_that_is_unknown_is_an_error() {
        let outcome: CallToolOutcome = serde_json::from_str(r#"{"content":[]}"#).unwrap();
        assert_eq!(
            outcome,
            CallToolOutcome::Complete(CallToolResult::default())
        );
        let error =
            serde_json::from_str::<CallToolOutcome>(r#"{"content":[],"resultType":"maybe"}"#);
        assert!(error.unwrap_err().to_string().contains("maybe"));
        let error = serde_json::from_str::<Complete<EmptyResult>>(r#"{"resultType":"maybe"}"#);
        assert!(error.is_err());
        let error = serde_json::from_str::<Outcome<EmptyResult>>(r#"{"resultType":"maybe"}"#);
        assert!(error.is_err());
    }

    #[test]
    fn the_type_is_found_at_any_position() {
        let text = r#"{"content":[],"structuredContent":[1, 2],"resultType":"complete"}"#;
        let CallToolOutcome::Complete(result) = serde_json::from_str(text).unwrap() else {
            panic!("complete")
        };
        assert_eq!(result.structured_content.unwrap().get(), "[1, 2]");

        let text = r#"{"requestState":"s","resultType":"input_required"}"#;
        let expected = InputRequiredResult::default().with_state("s");
        assert_eq!(
            serde_json::from_str::<CallToolOutcome>(text).unwrap(),
            CallToolOutcome::InputRequired(expected.clone())
        );
        assert_eq!(
            serde_json::from_str::<Outcome<GetPromptResult>>(text).unwrap(),
            Outcome::InputRequired(expected)
        );
    }

    // rule: I1
    #[test]
    fn a_list_cannot_be_answered_with_a_question() {
        let json = json!({"tools": [], "resultType": "input_required"});
        let error = serde_json::from_value::<Complete<ListToolsResult>>(json).unwrap_err();
        assert!(error.to_string().contains("cannot be answered"), "{error}");
        let json = json!({"messages": [], "resultType": "task"});
        assert!(serde_json::from_value::<Outcome<GetPromptResult>>(json).is_err());
    }

    #[test]
    fn tasks_of_both_kinds_are_understood() {
        let task = json!({
            "taskId": "t1", "status": "working",
            "createdAt": "2026-07-28T00:00:00Z", "lastUpdatedAt": "2026-07-28T00:00:00Z",
        });
        let mut flat = task.clone();
        flat["resultType"] = "task".into();
        flat["ttlMs"] = 5.into();
        let mut nested = task;
        nested["ttl"] = 5.into();
        let nested = json!({"task": nested});

        let flat: CallToolOutcome = serde_json::from_value(flat).unwrap();
        let nested: CallToolOutcome = serde_json::from_value(nested).unwrap();
        assert_eq!(flat, nested);
        assert!(matches!(flat, CallToolOutcome::Task(task) if task.ttl_ms == Some(5)));
        assert!(serde_json::from_str::<CallToolOutcome>(r#"{"resultType":"task"}"#).is_err());
    }

    // rule: J7
    #[test]
    fn what_is_written_says_what_it_is() {
        let json = serde_json::to_string(&Complete(EmptyResult::default())).unwrap();
        assert_eq!(json, r#"{"resultType":"complete"}"#);
        let result = CallToolResult::structured(&json!({"a": 1})).unwrap();
        let json = serde_json::to_string(&CallToolOutcome::Complete(result.clone())).unwrap();
        assert!(
            json.starts_with(r#"{"resultType":"complete","content":["#),
            "{json}"
        );
        let back: CallToolOutcome = serde_json::from_str(&json).unwrap();
        assert_eq!(back, CallToolOutcome::Complete(result));
    }
}
