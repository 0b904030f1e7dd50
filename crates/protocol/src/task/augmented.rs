//! The answers of a client to a request as a task, in 2025-11-25.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, DeserializeOwned, IgnoredAny},
};
use serde_json::value::RawValue;

use super::{CreateTaskResult, LegacyCreateTaskResult};

/// A response to `sampling/createMessage` or `elicitation/create`. In 2025-11-25 a client may answer
/// with a task if the request asked for one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Augmented<T> {
    /// The result of the request.
    Complete(T),
    /// The request became a task.
    Task(Box<CreateTaskResult>),
}

impl<T: Serialize> Serialize for Augmented<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Complete(result) => result.serialize(serializer),
            Self::Task(task) => {
                LegacyCreateTaskResult::from((**task).clone()).serialize(serializer)
            }
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Augmented<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Peek {
            task: Option<IgnoredAny>,
        }

        // Only the member `task` distinguishes the two, and it may come last.
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let Peek { task } = serde_json::from_str(raw.get()).map_err(de::Error::custom)?;
        match task {
            None => serde_json::from_str(raw.get()).map(Self::Complete),
            Some(_) => serde_json::from_str::<LegacyCreateTaskResult>(raw.get())
                .map(|result| Self::Task(Box::new(result.into()))),
        }
        .map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ElicitResult, Task};

    #[test]
    fn an_answer_and_a_task_are_told_apart() {
        let answer = Augmented::Complete(ElicitResult::decline());
        let task = Augmented::Task(Box::new(Task::new("t1", "2025-11-25T00:00:00Z")));
        for outcome in [answer, task] {
            let text = serde_json::to_string(&outcome).unwrap();
            assert_eq!(
                serde_json::from_str::<Augmented<ElicitResult>>(&text).unwrap(),
                outcome
            );
        }
        assert!(serde_json::from_str::<Augmented<ElicitResult>>(r#"{"task":{}}"#).is_err());
        assert!(serde_json::from_str::<Augmented<ElicitResult>>("[]").is_err());
    }
}
