//! The rounds of a modern exchange: questions go to the page, and the request is sent again with the answers.
//! All JSON is passed on as text, unchanged.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use tokio::task::JoinSet;
use turnbuckle_command_line::argument::Tree;

use super::{job::Job, task};
use crate::{
    ask::{Ask, Reply},
    problem::{Problem, Who},
    raw::Raw,
};

/// The most rounds: a server that asks even more often probably never finishes.
const MAX_ROUNDS: usize = 32;

/// How long to wait if the server returns only a state, without questions: doubled each time, up to the longest.
const FIRST_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);
const LONGEST_PAUSE: std::time::Duration = std::time::Duration::from_secs(2);

/// The questions, by key, in the server's order.
#[derive(Default)]
pub(super) struct Asked(Vec<(String, Question)>);

impl Asked {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for Asked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Asked;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("questions by key")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut members: M) -> Result<Asked, M::Error> {
                let mut asked = Vec::new();
                while let Some(member) = members.next_entry()? {
                    asked.push(member);
                }
                Ok(Asked(asked))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// The answers, by key.
pub(super) type AnswersByKey = BTreeMap<String, Raw>;

/// One question as the server sent it.
#[derive(Deserialize)]
pub(super) struct Question {
    method: String,
    params: Option<Box<RawValue>>,
}

/// The members of a result that decide how it continues.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Head {
    result_type: Option<String>,
    input_requests: Option<Asked>,
    request_state: Option<Box<RawValue>>,
}

/// Sends the request and answers the server's questions with the page, until there is a result.
pub(super) async fn to_the_end(job: &Job) -> Result<Box<RawValue>, Problem> {
    let is_modern = job.connection.server().revision().is_modern();
    let mut params = first(job, is_modern)?;
    let mut pause = FIRST_PAUSE;
    for round in 1..=MAX_ROUNDS {
        let result = job.send(&job.wanted.method, params.clone()).await?;
        if task::is_begun(&result) {
            return task::follow(job, result).await;
        }
        let head: Head = serde_json::from_str(result.get()).unwrap_or_default();
        if !is_modern || head.result_type.as_deref() != Some("input_required") {
            return Ok(result);
        }
        let state = head.request_state.as_deref();
        let answered = if let Some(asked) = head.input_requests {
            Some(answers(job, asked, round, state).await?)
        } else {
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
            None
        };
        job.is_in_round(round + 1);
        params = Some(again(job, answered.as_ref(), state)?);
    }
    let message = format!("the server asked {MAX_ROUNDS} times and still wants more");
    Err(Problem::new(Who::Protocol, message))
}

/// Shows all questions on the page at once.
pub(super) async fn answers(
    job: &Job,
    asked: Asked,
    round: usize,
    state: Option<&RawValue>,
) -> Result<AnswersByKey, Problem> {
    let mut open = JoinSet::new();
    for (key, question) in asked.0 {
        let ask = Ask {
            id: String::new(),
            exchange: Some(job.n),
            server: job.server.clone(),
            key: key.clone(),
            method: question.method,
            params: question
                .params
                .map_or_else(|| Raw::of(&serde_json::json!({})), Raw::from),
            round,
            state_bytes: state.map_or(0, |state| state.get().len()),
        };
        let method = ask.method.clone();
        // Asked here and not in the spawned task, so that the page has the questions in this order.
        let reply = job.inspector.ask(ask);
        open.spawn(async move { (key, method, reply.await) });
    }
    let mut answered = AnswersByKey::new();
    while let Some(joined) = open.join_next().await {
        let (key, method, reply) = joined.map_err(|error| Problem::of(Who::Transport, &error))?;
        answered.insert(key.clone(), answer(&key, &method, reply)?);
    }
    Ok(answered)
}

/// mrtr: an answer cannot say that a question was not answered, so the request is not sent again in that case.
fn answer(key: &str, method: &str, reply: Reply) -> Result<Raw, Problem> {
    let action = match reply {
        Reply::Result(result) => return Ok(result.into()),
        Reply::Decline => "decline",
        Reply::Cancel => "cancel",
        Reply::Error(reason) => {
            let message = format!("`{key}` was not answered: {reason}");
            return Err(Problem::new(Who::Protocol, message));
        }
    };
    if method == "elicitation/create" {
        return Ok(Raw::of(&serde_json::json!({ "action": action })));
    }
    let message = format!("`{key}` was refused, and the request was not sent again");
    Err(Problem::new(Who::Protocol, message))
}

/// The params of the first request.
fn first(job: &Job, is_modern: bool) -> Result<Option<Box<RawValue>>, Problem> {
    // A modern server decides itself whether a call becomes a task.
    if !job.wanted.task || is_modern {
        return Ok(job.wanted.params.clone());
    }
    let members = vec![("task".to_owned(), Tree::object())];
    with(job.wanted.params.as_deref(), members).map(Some)
}

fn again(
    job: &Job,
    answered: Option<&AnswersByKey>,
    state: Option<&RawValue>,
) -> Result<Box<RawValue>, Problem> {
    let mut members = Vec::new();
    if let Some(answered) = answered {
        let answers = Tree::Leaf(Raw::of(answered).text().to_owned());
        members.push(("inputResponses".to_owned(), answers));
    }
    if let Some(state) = state {
        members.push((
            "requestState".to_owned(),
            Tree::Leaf(state.get().to_owned()),
        ));
    }
    with(job.wanted.params.as_deref(), members)
}

/// Params with these members, which replace others with the same names.
fn with(params: Option<&RawValue>, members: Vec<(String, Tree)>) -> Result<Box<RawValue>, Problem> {
    let unreadable = |error: serde_json::Error| Problem::of(Who::Validation, &error);
    let tree = params.map_or(Ok(Tree::object()), |params| Tree::parse(params.get()));
    let Tree::Object(mut all) = tree.map_err(unreadable)? else {
        return Err(Problem::new(Who::Validation, "params must be an object"));
    };
    // mrtr: a retry carries the newest state, and no state if the last result had none.
    all.retain(|(name, _)| {
        let is_of_rounds = matches!(name.as_str(), "inputResponses" | "requestState");
        !is_of_rounds && members.iter().all(|(other, _)| other != name)
    });
    all.extend(members);
    RawValue::from_string(Tree::Object(all).to_json()).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_keeps_digits_and_drops_an_old_state() {
        let params =
            r#"{"name":"t","arguments":{"n":12345678901234567890.10},"requestState":"old"}"#;
        let params = RawValue::from_string(params.to_owned()).unwrap();
        let again = with(Some(&params), vec![]).unwrap();
        assert_eq!(
            again.get(),
            r#"{"name":"t","arguments":{"n":12345678901234567890.10}}"#
        );
    }

    // rule: E9
    #[test]
    fn a_form_can_be_declined_and_a_sample_cannot() {
        let declined = answer("k", "elicitation/create", Reply::Decline).unwrap();
        assert_eq!(declined.text(), r#"{"action":"decline"}"#);
        assert!(answer("k", "sampling/createMessage", Reply::Decline).is_err());
        assert!(answer("k", "elicitation/create", Reply::Error("no".into())).is_err());
    }

    #[test]
    fn questions_are_in_the_order_of_the_server() {
        let text = r#"{"confirm": {"method": "elicitation/create"}, "roots": {"method": "roots/list"},
                       "gen": {"method": "sampling/createMessage"}}"#;
        let asked: Asked = serde_json::from_str(text).expect("they are questions");
        let keys: Vec<_> = asked.0.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["confirm", "roots", "gen"]);
    }
}
