//! A modern server asks by the result of a call; the answers go with the call when it is sent
//! again.

use std::time::Duration;

use turnbuckle_protocol::{InputRequests, InputRequiredResult, InputResponses, Lower};

use super::{exchange::Exchange, join::join_all};
use crate::{
    CallError,
    link::{Link, MAX_OPEN_ASKS},
};

/// How long to wait before a call is repeated that the server only put off: doubled each time, up
/// to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// What a call takes with it when it is sent again.
#[derive(Default)]
pub(super) struct Retry {
    pub(super) responses: Option<InputResponses>,
    /// As the server sent it. It means nothing here, and goes with nothing but this call.
    pub(super) state: Option<String>,
}

/// Answers what the server asked, all at once.
pub(super) async fn answer(
    exchange: &Exchange<'_>,
    asked: InputRequiredResult,
    round: usize,
) -> Result<Retry, CallError> {
    let Some(requests) = &asked.input_requests else {
        if asked.request_state.is_none() {
            return Err(exchange.malformed("input is required, but nothing is asked"));
        }
        // mrtr: without input requests the call may simply be repeated. The server is busy then.
        tokio::time::sleep(pause(round)).await;
        return Ok(Retry {
            responses: None,
            state: asked.request_state,
        });
    };
    match answer_asks(exchange.link, requests).await {
        Ok(responses) => Ok(Retry {
            responses: Some(responses),
            state: asked.request_state,
        }),
        Err(reason) => Err(CallError::InputRequired {
            server: exchange.link.server().clone(),
            method: exchange.method.into(),
            reason,
            asked: Box::new(asked),
        }),
    }
}

/// mrtr: there is no way to say in an answer that there is none; the call is not sent again then.
pub(crate) async fn answer_asks(
    link: &Link,
    requests: &InputRequests,
) -> Result<InputResponses, String> {
    let Some(server) = link.peer() else {
        return Err("the server is not known yet".to_owned());
    };
    // As many as may be open in a session: no form of the question is a way around the bound.
    if requests.len() > MAX_OPEN_ASKS {
        let count = requests.len();
        return Err(format!(
            "{count} things are asked at once, and no more than {MAX_OPEN_ASKS} are answered"
        ));
    }
    let answers = &link.profile.answers;
    let each = requests
        .values()
        .map(|request| answers.answer(server.clone(), request.clone()));
    let answered = join_all(each).await;
    let mut responses = InputResponses::new();
    for (key, answer) in requests.keys().zip(answered) {
        let mut answer = answer.map_err(|unanswered| format!("`{key}`: {unanswered}"))?;
        answer.lower(link.revision());
        responses.insert(key.clone(), answer);
    }
    Ok(responses)
}

fn pause(round: usize) -> Duration {
    let doublings = u32::try_from(round).unwrap_or(u32::MAX).min(10);
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}
