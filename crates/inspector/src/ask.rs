//! Questions of servers that wait for the user's answer on the page.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tokio::sync::oneshot;
use turnbuckle::schema::Schema;

use super::{
    check::{self, Misfit},
    clock,
    raw::Raw,
};

/// How many questions may be open: with more, the page would be unusable.
pub(super) const MAX_ASKS: usize = 256;

/// A question as the page shows it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ask {
    pub(super) id: String,
    pub(super) exchange: Option<u64>,
    pub(super) server: String,
    pub(super) key: String,
    pub(super) method: String,
    pub(super) params: Raw,
    pub(super) round: usize,
    pub(super) state_bytes: usize,
}

/// An open question.
pub(super) struct OpenAsk {
    pub(super) ask: Ask,
    /// When it was asked, in milliseconds since the epoch.
    pub(super) since: f64,
    pub(super) tell: oneshot::Sender<Reply>,
}

/// A question that was answered, or withdrawn.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Answered {
    ask: Ask,
    /// `result`, `decline`, `cancel` or `error`.
    how: &'static str,
    /// The answer.
    result: Option<Raw>,
    #[serde(serialize_with = "clock::plain")]
    asked: f64,
    #[serde(serialize_with = "clock::plain")]
    time: f64,
}

impl Answered {
    pub(super) fn new(ask: Ask, asked: f64, reply: &Reply) -> Self {
        let (how, result) = match reply {
            Reply::Result(result) => ("result", Some(Raw::from(result.clone()))),
            Reply::Decline => ("decline", None),
            Reply::Cancel => ("cancel", None),
            Reply::Error(reason) => ("error", Some(Raw::of(reason))),
        };
        Self {
            ask,
            how,
            result,
            asked,
            time: clock::now(),
        }
    }
}

/// The page's answer.
#[derive(Debug)]
pub(super) enum Reply {
    Result(Box<RawValue>),
    Decline,
    Cancel,
    Error(String),
}

/// The page's answer in its JSON form.
#[derive(Deserialize)]
pub(super) struct Given {
    result: Option<Box<RawValue>>,
    refuse: Option<Refuse>,
    error: Option<Failure>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Refuse {
    Decline,
    Cancel,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

impl Given {
    pub(super) fn into_reply(self) -> Option<Reply> {
        match self {
            Self {
                result: Some(result),
                ..
            } => Some(Reply::Result(result)),
            Self {
                refuse: Some(Refuse::Decline),
                ..
            } => Some(Reply::Decline),
            Self {
                refuse: Some(Refuse::Cancel),
                ..
            } => Some(Reply::Cancel),
            Self {
                error: Some(error), ..
            } => Some(Reply::Error(error.message)),
            _ => None,
        }
    }
}

impl Ask {
    /// The problems of a result, if it is the content of a form: elicitation asks clients to validate it
    /// before they send it.
    pub(super) fn problems(&self, result: &RawValue) -> Vec<Misfit> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Form {
            requested_schema: Option<Value>,
        }
        #[derive(Deserialize)]
        struct Filled {
            action: String,
            content: Option<Value>,
        }
        if self.method != "elicitation/create" {
            return Vec::new();
        }
        let Ok(filled) = serde_json::from_str::<Filled>(result.get()) else {
            return vec![Misfit {
                path: String::new(),
                message: "expected an object with `action` and `content`".to_owned(),
            }];
        };
        let form = serde_json::from_str::<Form>(self.params.text());
        let schema = form.ok().and_then(|form| form.requested_schema);
        let (Some(schema), true) = (schema, filled.action == "accept") else {
            return Vec::new();
        };
        let content = filled
            .content
            .unwrap_or_else(|| Value::Object(serde_json::Map::new()));
        check::problems(&Schema::compile(&schema), &content)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // rule: E9
    #[test]
    fn a_form_is_looked_at_before_it_is_sent() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let ask = Ask {
            id: "a1".into(),
            exchange: None,
            server: "s1".into(),
            key: "k".into(),
            method: "elicitation/create".into(),
            params: Raw::of(&json!({"message": "?", "requestedSchema": schema})),
            round: 1,
            state_bytes: 0,
        };
        let problems = |result: Value| ask.problems(&Raw::of(&result).to_box());
        assert!(problems(json!({"action": "accept", "content": {"n": 1}})).is_empty());
        assert!(problems(json!({"action": "decline"})).is_empty());
        assert_eq!(
            problems(json!({"action": "accept", "content": {"n": "x"}}))[0].path,
            "/n"
        );
        assert_eq!(problems(json!({"action": "accept"})).len(), 1);
        assert_eq!(problems(json!(7)).len(), 1);
    }
}
