//! Answers several questions of a server at the same time, from a result or a task.

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

/// How many questions of one server may be open at once. Each may be a dialogue with a user or a
/// bill from a model; a server that has more open than this has lost count.
pub(crate) const MAX_OPEN_ASKS: usize = 64;

/// How often the server has asked of late.
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
    /// Answers questions of a call with this tag with the handlers of the client. The error says which
    /// has no answer.
    ///
    /// mrtr: a refusal cannot be expressed in an answer, so the call is not sent again then.
    pub(crate) async fn answer_asks(
        &self,
        requests: &InputRequests,
        tag: Option<u64>,
    ) -> Result<InputResponses, String> {
        // As many as may be open in a session: no form of the question is a way around the bound.
        if requests.len() > MAX_OPEN_ASKS {
            let count = requests.len();
            return Err(format!(
                "{count} things are asked at once, and no more than {MAX_OPEN_ASKS} are answered"
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

    /// Answers one question with the handlers of the client.
    pub(crate) async fn answer_ask(
        &self,
        request: InputRequest,
        tag: Option<u64>,
    ) -> Result<InputResponse, Unanswered> {
        self.answer_with_progress(request, tag, AskProgress::default())
            .await
    }

    /// The same for a server that wants progress notifications.
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
    /// If the server asks too often.
    pub(crate) fn count_ask(&self, request: &InputRequest) -> Result<(), Unanswered> {
        self.ask_pacers.count(request)
    }

    fn count_asks(&self, requests: &InputRequests) -> Result<(), String> {
        requests.iter().try_for_each(|(key, request)| {
            self.count_ask(request)
                .map_err(|unanswered| format!("`{key}`: {unanswered}"))
        })
    }

    /// Whether this client has offered to answer a question, in the revision that is spoken.
    pub(crate) fn check_ask(&self, request: &InputRequest) -> Result<(), Unanswered> {
        let declared = self.profile().capabilities(self.revision());
        check_offered(&declared, request).map_err(Into::into)
    }

    /// The same for a method, before its params are read.
    pub(super) fn check_asked_method(&self, method: &str) -> Result<(), NotOffered> {
        check_method(&self.profile().capabilities(self.revision()), method)
    }

    /// The same for several that are answered by hand, which are counted; the error says which was not
    /// offered.
    pub(crate) fn check_asks(&self, requests: &InputRequests) -> Result<(), String> {
        requests.iter().try_for_each(|(key, request)| {
            self.check_ask(request)
                .map_err(|unanswered| format!("`{key}`: {unanswered}"))
        })?;
        self.count_asks(requests)
    }
}
