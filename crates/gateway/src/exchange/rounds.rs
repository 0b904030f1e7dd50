//! A legacy client of a modern server. Questions in the server's results become requests to the
//! client, and the call is sent again with the answers (G21, G22).

use std::{sync::Arc, time::Duration};

use serde_json::{json, value::RawValue};
use tokio::{task::JoinSet, time};
use turnbuckle_client::RelayEvent;
use turnbuckle_protocol::{
    CallToolResult, ErrorObject,
    envelope::{Edit, Raw, RawText},
    error::name_in_message,
};
use turnbuckle_server::{Reject, RelayReply};

use super::{call::Exchange, ear, task};
use crate::translate::{Answer, Question, Round, is_input_required, text_of};

/// How many rounds of questions one call may have.
const MAX_ROUNDS: usize = 32;

/// How many questions one round may have.
const MAX_QUESTIONS: usize = 32;

/// The first pause before calling a server again that returned no questions.
const BACK_OFF: Duration = Duration::from_millis(100);

/// The longest such pause.
const MAX_BACK_OFF: Duration = Duration::from_secs(5);

pub(super) async fn run(exchange: Exchange) -> RelayReply {
    let mut round = Round::None;
    let mut pause = BACK_OFF;
    let mut visits = Vec::new();
    for _ in 0..MAX_ROUNDS {
        let raw = match send(&exchange, &round).await {
            Ok(raw) => raw,
            Err(reply) => return reply,
        };
        let asked = Raw::from(&*raw);
        let state = asked.member("requestState").and_then(text_of);
        let questions = asked.member("inputRequests").map(Raw::members);
        let questions = questions.unwrap_or_default();
        if questions.is_empty() {
            // mrtr: a state without questions only requests another try.
            time::sleep(pause).await;
            pause = (pause * 2).min(MAX_BACK_OFF);
            round = Round::Answers("{}".to_owned(), state);
            continue;
        }
        let questions = questions
            .into_iter()
            .map(|(key, entry)| (key.into_owned(), Question::of_entry(entry)))
            .collect();
        match ask_all(&exchange, questions, &mut visits).await {
            Ok(answers) => round = Round::Answers(answers, state),
            Err(reply) => return reply,
        }
        if let Some(changes) = exchange.context.changes.get() {
            visits
                .drain(..)
                .for_each(|id: String| changes.elicitation_completed(id));
        }
    }
    Reject::internal(format!(
        "server `{}` asked more than {MAX_ROUNDS} times in one call",
        exchange.server()
    ))
    .into()
}

/// Sends the call once. An error means that the call is over.
async fn send(exchange: &Exchange, round: &Round) -> Result<Box<RawValue>, RelayReply> {
    let mut call = exchange.start(round)?;
    loop {
        return match exchange.hear(call.next().await).await {
            Some(RelayEvent::Result(raw)) if is_input_required(&raw) => Ok(raw),
            Some(RelayEvent::Result(raw)) => Err(done(exchange, raw)),
            Some(RelayEvent::Error(raw)) => Err(exchange.finish(&Answer::Error(raw))),
            Some(RelayEvent::Lost(error)) => Err(exchange.finish(&Answer::Lost(error))),
            _ => continue,
        };
    }
}

/// The reply to a call that is done or has become a task.
fn done(exchange: &Exchange, raw: Box<RawValue>) -> RelayReply {
    if !exchange.becomes_task() {
        return exchange.finish(&Answer::Result(raw));
    }
    task::created_by_modern(exchange, &raw)
        .unwrap_or_else(|| task::finished(exchange, exchange.finish(&Answer::Result(raw))))
}

/// Asks the client all questions of a round. Returns the answers as JSON.
async fn ask_all(
    exchange: &Exchange,
    questions: Vec<(String, Option<Question>)>,
    visits: &mut Vec<String>,
) -> Result<String, RelayReply> {
    if questions.len() > MAX_QUESTIONS {
        let message = format!("more than {MAX_QUESTIONS} questions were asked at once");
        return Err(Reject::internal(message).into());
    }
    let request = &exchange.request;
    let mut asking = JoinSet::new();
    for (index, (key, question)) in questions.iter().enumerate() {
        let declared = question
            .as_ref()
            .filter(|question| question.is_declared(&request.capabilities, request.revision));
        let params =
            declared.and_then(|question| question.for_session(exchange.to(), request.revision));
        let (Some(question), Some((params, visit))) = (declared, params) else {
            return Err(unaskable(exchange, key, question.as_ref()));
        };
        if let Some(id) = visit {
            request.expect_visit(&id);
            visits.push(id);
        }
        let (request, method) = (Arc::clone(request), question.method.clone());
        asking.spawn(async move {
            let params = params.as_ref().map(RawText::raw);
            (index, ear::ask(&request, &method, params).await)
        });
    }
    let mut answers: Vec<Option<Box<RawValue>>> = vec![None; questions.len()];
    while let Some(done) = asking.join_next().await {
        let Ok((index, answered)) = done else {
            return Err(Reject::internal("a question to the client was abandoned").into());
        };
        match answered {
            Some(Ok(answer)) => answers[index] = Some(answer),
            // mrtr: an answer cannot contain an error of the client, so the error ends the call.
            Some(Err(error)) => return Err(error.into()),
            None => return Err(ErrorObject::internal("the client disconnected").into()),
        }
    }
    let mut text = String::from("{");
    for ((key, _), answer) in questions.iter().zip(&answers) {
        let Some(answer) = answer else { continue };
        let bare = Edit::new(Raw::from(&**answer)).drop(&["_meta"]).finish();
        let bare = bare.map_err(|_| Reject::invalid_params("an answer must be an object"))?;
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(&json!(key).to_string());
        text.push(':');
        text.push_str(bare.raw().get());
    }
    text.push('}');
    Ok(text)
}

/// The reply if the client cannot be asked: a tool result for the model, or an error for other methods.
fn unaskable(exchange: &Exchange, key: &str, question: Option<&Question>) -> RelayReply {
    let needed = question.and_then(Question::needed);
    let needed = needed.map_or_else(|| "unknown kind".to_owned(), |it| json!(it).to_string());
    let (server, key) = (exchange.server(), name_in_message(key));
    let message = format!(
        "server `{server}` sent an input request (`{key}`) that this client does not support: {needed}"
    );
    if exchange.request.method == "tools/call" {
        let result = CallToolResult::error(message.as_str());
        if let Ok(result) = serde_json::to_vec(&result) {
            return RelayReply::Result(result);
        }
    }
    Reject::invalid_request(message).into()
}
