//! Answering several questions of a server at once, as a result or a task asks them.

use turnbuckle_protocol::{InputRequests, InputResponses, Lower};

use super::Link;
use crate::future::join_all;

/// How many questions of one server may be open at once. Each may be a dialogue with a person or a
/// bill from a model; a server that has more open than this has lost count.
pub(crate) const MAX_OPEN_ASKS: usize = 64;

impl Link {
    /// Answers questions with the handlers of the client. The error says which has no answer.
    ///
    /// mrtr: a refusal cannot be expressed in an answer, so the call is not sent again then.
    pub(crate) async fn answer_asks(
        &self,
        requests: &InputRequests,
    ) -> Result<InputResponses, String> {
        let Some(server) = self.peer() else {
            return Err("the server is not known yet".to_owned());
        };
        // As many as may be open in a session: no form of the question is a way around the bound.
        if requests.len() > MAX_OPEN_ASKS {
            let count = requests.len();
            return Err(format!(
                "{count} things are asked at once, and no more than {MAX_OPEN_ASKS} are answered"
            ));
        }
        let answers = &self.profile().answers;
        let each = requests
            .values()
            .map(|request| answers.answer(server.clone(), request.clone()));
        let answered = join_all(each).await;
        let mut responses = InputResponses::new();
        for (key, answer) in requests.keys().zip(answered) {
            let mut answer = answer.map_err(|unanswered| format!("`{key}`: {unanswered}"))?;
            answer.lower(self.revision());
            responses.insert(key.clone(), answer);
        }
        Ok(responses)
    }
}
