//! Answers several questions of a server concurrently, from a result or a task.

use tokio::time::Instant;
use turnbuckle_protocol::{
    InputRequest, InputRequests, InputResponse, InputResponses, Lower, error::name_in_message,
};
use turnbuckle_session::round::{NotOffered, check_method, check_offered};
use turnbuckle_transport::Pacer;

use super::Link;
use crate::{
    answer::{AskProgress, Refusal, Unanswered, invalid_meta_key},
    future::join_all,
    profile::AskRates,
};

/// How many questions of one server may be open at once. Each may be a dialogue with a user or a paid
/// request to a model; no reasonable server has more open than this.
pub(crate) const MAX_OPEN_ASKS: usize = 64;

/// How often the server has asked recently.
pub(super) struct AskPacers {
    sampling: Pacer,
    elicitation: Pacer,
}

impl AskPacers {
    pub(super) fn new(rates: AskRates) -> Self {
        Self {
            sampling: Pacer::new(rates.sampling),
            elicitation: Pacer::new(rates.elicitation),
        }
    }

    fn count(&self, request: &InputRequest) -> Result<(), Unanswered> {
        let (pacer, setting) = match request {
            InputRequest::CreateMessage(_) => (&self.sampling, "sampling"),
            InputRequest::Elicit(_) => (&self.elicitation, "elicitation"),
            _ => return Ok(()),
        };
        if pacer.take(Instant::now()) {
            return Ok(());
        }
        let rate = pacer.rate();
        Err(Unanswered::TooOften { rate, setting })
    }
}

impl Link {
    /// Answers the questions of a call with this tag with the client's handlers. The error says which
    /// question has no answer.
    ///
    /// mrtr: a refusal cannot be expressed in an answer, so the call is then not sent again.
    pub(crate) async fn answer_asks(
        &self,
        requests: &InputRequests,
        tag: Option<u64>,
    ) -> Result<InputResponses, String> {
        // The same limit as in a session, so that no form of question circumvents it.
        if requests.len() > MAX_OPEN_ASKS {
            let count = requests.len();
            return Err(format!(
                "it sent {count} input requests at once; the limit is {MAX_OPEN_ASKS}"
            ));
        }
        self.count_asks(requests)?;
        let each = requests
            .values()
            .map(|request| self.answer_ask(request.clone(), tag));
        let answered = join_all(each).await;
        let mut responses = InputResponses::new();
        for (key, answer) in requests.keys().zip(answered) {
            let mut answer = answer.map_err(|unanswered| format!("`{key}`: {unanswered}"))?;
            answer.lower(self.revision());
            responses.insert(key.clone(), answer);
        }
        Ok(responses)
    }

    /// Answers one question with the client's handlers.
    pub(crate) async fn answer_ask(
        &self,
        request: InputRequest,
        tag: Option<u64>,
    ) -> Result<InputResponse, Unanswered> {
        self.answer_with_progress(request, tag, AskProgress::default())
            .await
    }

    /// The same for a server that asked for progress notifications.
    pub(super) async fn answer_with_progress(
        &self,
        request: InputRequest,
        tag: Option<u64>,
        progress: AskProgress,
    ) -> Result<InputResponse, Unanswered> {
        self.check_ask(&request)?;
        let server = self.ends.peer_or_unknown();
        let answers = &self.profile().answers;
        let answer = answers.answer(server, progress, request, tag).await?;
        match invalid_meta_key(&answer) {
            None => Ok(answer),
            Some(key) => {
                let reason = format!("`{}` is not a valid key of `_meta`", name_in_message(key));
                Err(Unanswered::Refused(Refusal::failed(reason)))
            }
        }
    }

    /// Counts a question.
    ///
    /// sampling, elicitation: clients SHOULD limit the rate.
    ///
    /// # Errors
    /// Fails if the server asks too often.
    pub(crate) fn count_ask(&self, request: &InputRequest) -> Result<(), Unanswered> {
        self.ask_pacers.count(request)
    }

    fn count_asks(&self, requests: &InputRequests) -> Result<(), String> {
        requests.iter().try_for_each(|(key, request)| {
            self.count_ask(request)
                .map_err(|unanswered| format!("`{key}`: {unanswered}"))
        })
    }

    /// Checks that this client has declared the capability for a question, in the current revision.
    pub(crate) fn check_ask(&self, request: &InputRequest) -> Result<(), Unanswered> {
        let declared = self.profile().capabilities(self.revision());
        check_offered(&declared, request).map_err(Into::into)
    }

    /// The same for a method, before its params are parsed.
    pub(super) fn check_asked_method(&self, method: &str) -> Result<(), NotOffered> {
        check_method(&self.profile().capabilities(self.revision()), method)
    }

    /// Checks and counts several questions that are answered by hand. The error says which one was not
    /// declared.
    pub(crate) fn check_asks(&self, requests: &InputRequests) -> Result<(), String> {
        requests.iter().try_for_each(|(key, request)| {
            self.check_ask(request)
                .map_err(|unanswered| format!("`{key}`: {unanswered}"))
        })?;
        self.count_asks(requests)
    }
}
