//! Questions in modern sessionless calls: a server asks in the result of a call, and the call is sent
//! again with the answers.

use std::time::Duration;

use turnbuckle_protocol::{InputRequiredResult, InputResponses};

use super::AnswerReader;
use crate::error::CallError;

/// How long to wait before a call is repeated if the server asked nothing and only wants the call
/// again. The pause doubles each time, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The answers and the state of a repeated call.
#[derive(Default)]
pub(crate) struct Retry {
    pub(crate) responses: Option<InputResponses>,
    /// The server's opaque state, unchanged. It is only sent with this call.
    pub(crate) state: Option<String>,
}

/// Answers all questions of the server concurrently.
pub(crate) async fn answer(
    reader: &AnswerReader<'_>,
    asked: InputRequiredResult,
    round: usize,
    tag: Option<u64>,
) -> Result<Retry, CallError> {
    let Some(requests) = &asked.input_requests else {
        if asked.request_state.is_none() {
            return Err(reader.malformed(
                "the result requires input, but has neither `inputRequests` nor `requestState`",
            ));
        }
        // mrtr: without input requests the call may simply be repeated. The server is probably busy, so
        // wait.
        tokio::time::sleep(pause(round)).await;
        return Ok(Retry {
            responses: None,
            state: asked.request_state,
        });
    };
    match reader.link.answer_asks(requests, tag).await {
        Ok(responses) => Ok(Retry {
            responses: Some(responses),
            state: asked.request_state,
        }),
        Err(reason) => Err(CallError::InputRequired {
            server: reader.link.server().clone(),
            method: reader.method.into(),
            reason,
            asked: Box::new(asked),
        }),
    }
}

fn pause(round: usize) -> Duration {
    let doublings = u32::try_from(round).unwrap_or(u32::MAX).min(10);
    (FIRST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}
