//! One run of a handler: its questions and their answers.

use std::{collections::BTreeMap, mem};

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use turnbuckle_protocol::{
    ElicitRequestParams, ElicitRequestUrlParams, ErrorObject, InputRequest, InputResponse, Revision,
};

use super::{
    BadAnswer, Binding, Declared, Fingerprint, Impossible, Journal, JournalError, KeyRing,
    MAX_JOURNAL_ENTRIES, Need, OpenAsks, QuestionDraft, answer, impossible, question, seal::Nonce,
};

/// The most questions that may be open at once.
///
/// Each is a form or a consent that a user sees. A handler with more is in a loop.
pub const MAX_OPEN_ASKS: usize = 32;

/// One run of a handler, from its start to its result or to questions without an answer.
///
/// In a modern exchange: create it with [`new`](Self::new) or [`resume`](Self::resume),
/// [`merge`](Self::merge) the answers of the request, run the handler, and [`pause`](Self::pause) when
/// it waits. In a session, send the questions in [`open`](Self::open) as requests, `merge` each
/// response, and `withdraw` the failed ones. In a task, publish `open` and `merge` the answers.
#[derive(Clone, Debug)]
pub struct Round {
    revision: Revision,
    capabilities: Declared,
    journal: Journal,
    open: OpenAsks,
    /// Answers that came before any question was known.
    offered: BTreeMap<String, Box<RawValue>>,
}

/// The outcome of asking.
#[derive(Clone, Debug, PartialEq)]
pub enum AskOutcome {
    /// There is an answer, and it fits. Declining and cancelling are answers.
    Answered(InputResponse),
    /// The client must be asked.
    Open,
    /// The client cannot be asked.
    Impossible(Impossible),
}

/// Why a question is neither answered nor open.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// A mistake of the client: its answer does not fit the question. Reject the request.
    #[error(transparent)]
    BadAnswer(#[from] BadAnswer),
    /// A mistake of the handler: it asked something else before, or too much.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A mistake of the handler: the question cannot be sent to any client.
    #[error("ask `{key:.64}` cannot be sent: {reason}")]
    BadQuestion {
        /// The key.
        key: String,
        /// The problem.
        reason: &'static str,
    },
    /// A mistake of the handler: it asks too many questions at once.
    #[error("ask `{key:.64}` exceeds the limit of {MAX_OPEN_ASKS} open asks")]
    TooManyOpen {
        /// The key.
        key: String,
    },
}

impl Round {
    /// Creates the first round of a call.
    pub fn new(revision: Revision, capabilities: impl Into<Declared>) -> Self {
        Self::resume(revision, capabilities, Journal::new())
    }

    /// Creates a round with the journal of the earlier rounds.
    pub fn resume(revision: Revision, capabilities: impl Into<Declared>, journal: Journal) -> Self {
        Self {
            revision,
            capabilities: capabilities.into(),
            journal,
            open: OpenAsks::default(),
            offered: BTreeMap::new(),
        }
    }

    /// Returns the journal.
    pub const fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Returns the journal, to store memos in it.
    pub const fn journal_mut(&mut self) -> &mut Journal {
        &mut self.journal
    }

    /// Returns the questions without an answer, in the order in which they were first asked and in the
    /// form of the client's revision.
    pub const fn open(&self) -> &OpenAsks {
        &self.open
    }

    /// Asks a question. The same question under the same key counts once, however often it is asked.
    ///
    /// # Errors
    /// [`AskError`]; each variant says whether it is a mistake of the handler or of the client.
    pub fn ask(&mut self, key: &str, request: &InputRequest) -> Result<AskOutcome, AskError> {
        self.ask_as(
            key,
            &QuestionDraft::Request(request.clone()),
            Fingerprint::of(request),
        )
    }

    /// Asks a question that is asked often. Its draft already contains the fingerprint.
    ///
    /// # Errors
    /// Fails as [`ask`](Self::ask) does.
    pub fn ask_as(
        &mut self,
        key: &str,
        question: &QuestionDraft,
        fingerprint: Fingerprint,
    ) -> Result<AskOutcome, AskError> {
        self.journal.check(key, fingerprint)?;
        if let Some(answer) = self.journal.answer(key) {
            let response = fitting(key, question, answer)?;
            return Ok(AskOutcome::Answered(response));
        }
        if let Some(answer) = self.offered.get(key) {
            let response = fitting(key, question, answer)?;
            self.journal.asked(key, fingerprint)?;
            self.journal
                .record_answer(key, answer.clone())
                .map_err(|full| BadAnswer::new(key, full.to_string()))?;
            self.offered.remove(key);
            return Ok(AskOutcome::Answered(response));
        }
        if self.open.contains_key(key) {
            return Ok(AskOutcome::Open);
        }
        self.put(key, fingerprint, question)
    }

    /// Adds answers: the `inputResponses` of a retry or of `tasks/update`, or the one result of a
    /// request in a session. Either all of them are added or none.
    ///
    /// Answers under unknown keys are ignored, and so are answers to questions that already have one;
    /// missing answers leave their questions open. If the journal contains no question, the request
    /// came without its state: an answer then counts for the question that the handler asks under its
    /// key. The specification allows both: a client MUST send back the state that it was given, but a
    /// server may also work from the retry alone, and the official conformance suite sends answers
    /// without a state. Without the state there is no proof that this exact question was answered; a
    /// server that needs the proof must not call this without a state.
    ///
    /// # Errors
    /// Fails if an answer does not fit its question, or is too large for the journal.
    pub fn merge<K, V>(
        &mut self,
        responses: impl IntoIterator<Item = (K, V)>,
    ) -> Result<(), BadAnswer>
    where
        K: AsRef<str>,
        V: Serialize,
    {
        let is_blank = self.journal.is_empty();
        let mut taken = Vec::new();
        for (key, response) in responses {
            let key = key.as_ref();
            let bad = |reason: String| BadAnswer::new(key, reason);
            let Some(asked) = self.journal.question(key) else {
                if is_blank && self.offered.len() < MAX_JOURNAL_ENTRIES {
                    let answer = to_raw_value(&response).map_err(|error| bad(error.to_string()))?;
                    self.offered.insert(key.to_owned(), answer);
                }
                continue;
            };
            if self.journal.answer(key).is_some() {
                continue;
            }
            let answer = to_raw_value(&response).map_err(|error| bad(error.to_string()))?;
            match self.open.posed(key) {
                Some(question) => drop(fitting(key, question, &answer)?),
                None => answer::check_kind(asked.kind(), &answer).map_err(bad)?,
            }
            taken.push((key.to_owned(), answer));
        }
        self.record(taken)
    }

    /// Records answers: either all of them or none.
    fn record(&mut self, answers: Vec<(String, Box<RawValue>)>) -> Result<(), BadAnswer> {
        let bytes: usize = answers.iter().map(|(_, answer)| answer.get().len()).sum();
        if let Some((key, _)) = answers.first()
            && bytes > self.journal.left()
        {
            let reason = format!("{bytes} bytes of answers exceed the limit");
            return Err(BadAnswer::new(key, reason));
        }
        for (key, answer) in answers {
            self.open.remove(&key);
            let recorded = self.journal.record_answer(&key, answer);
            recorded.map_err(|full| BadAnswer::new(&key, full.to_string()))?;
        }
        Ok(())
    }

    /// Returns the error that ends a call until the user has visited these URLs, if the client's
    /// revision has such an error. Clients of other revisions are asked instead. Keys that are not an
    /// open visit are ignored.
    pub fn visit_first(&self, keys: &[String]) -> Option<ErrorObject> {
        // elicitation: only in 2025-11-25, and the error MUST list the visits.
        if !self.revision.rules().visits_first {
            return None;
        }
        let visits: Vec<_> = keys.iter().filter_map(|key| self.visit(key)).collect();
        (!visits.is_empty()).then(|| ErrorObject::url_elicitation_required(visits))
    }

    fn visit(&self, key: &str) -> Option<ElicitRequestUrlParams> {
        let QuestionDraft::Request(InputRequest::Elicit(params)) = self.open.posed(key)? else {
            return None;
        };
        match &**params {
            ElicitRequestParams::Url(visit) => Some(visit.clone()),
            _ => None,
        }
    }

    /// Withdraws an open question because its answer is not needed any more, or because the client
    /// answered it with an error. It may be asked again.
    pub fn withdraw(&mut self, key: &str) -> Option<QuestionDraft> {
        self.open.remove(key)
    }

    /// Ends the round if it has open questions, and returns them with the journal. The round is then
    /// empty.
    pub fn pause(&mut self) -> Option<Pause> {
        if self.open.is_empty() {
            return None;
        }
        self.offered.clear();
        Some(Pause {
            requests: mem::take(&mut self.open),
            journal: mem::take(&mut self.journal),
        })
    }

    /// Returns the journal of a finished round.
    pub fn into_journal(self) -> Journal {
        self.journal
    }

    fn put(
        &mut self,
        key: &str,
        fingerprint: Fingerprint,
        question: &QuestionDraft,
    ) -> Result<AskOutcome, AskError> {
        let question = match self.worded(key, question)? {
            Ok(question) => question,
            Err(impossible) => return Ok(AskOutcome::Impossible(impossible)),
        };
        if self.open.len() >= MAX_OPEN_ASKS {
            let key = key.to_owned();
            return Err(AskError::TooManyOpen { key });
        }
        self.journal.asked(key, fingerprint)?;
        self.open.push(key, question);
        Ok(AskOutcome::Open)
    }

    /// Returns the question in the form of the client's revision, if the client can be asked.
    fn worded(
        &mut self,
        key: &str,
        question: &QuestionDraft,
    ) -> Result<Result<QuestionDraft, Impossible>, AskError> {
        // A form draft is already in the form of the newest revision.
        if let QuestionDraft::Form { schema, .. } = question
            && self.revision.is_modern()
        {
            if let Some(reason) = schema.fault() {
                let key = key.to_owned();
                return Err(AskError::BadQuestion { key, reason });
            }
            let is_met = self.capabilities.has_form_elicitation();
            let impossible = Impossible::Undeclared(Need::Form);
            return Ok(is_met.then(|| question.clone()).ok_or(impossible));
        }
        let request = question.to_request();
        if let Some(reason) = question::fault(&request, self.revision) {
            let key = key.to_owned();
            return Err(AskError::BadQuestion { key, reason });
        }
        let capabilities = self.capabilities.read();
        Ok(impossible::fit(request, capabilities, self.revision).map(QuestionDraft::Request))
    }
}

fn fitting(
    key: &str,
    question: &QuestionDraft,
    answer: &RawValue,
) -> Result<InputResponse, BadAnswer> {
    let checked = match question {
        QuestionDraft::Request(request) => answer::check(request, answer),
        QuestionDraft::Form { schema, .. } => answer::check_form(schema.fields(), answer),
    };
    checked.map_err(|reason| BadAnswer::new(key, reason))
}

/// A round that ended with open questions: the questions for the client, and the journal that is needed
/// for its answers.
#[derive(Clone, Debug)]
pub struct Pause {
    /// The questions, at least one.
    pub requests: OpenAsks,
    /// The journal.
    pub journal: Journal,
}

impl Pause {
    /// Returns the reply: the questions, and the journal as a sealed `requestState`.
    ///
    /// `expires` is in milliseconds since 1970; `nonce` is 24 random bytes that are used nowhere else.
    pub fn seal(self, keys: &KeyRing, binding: &Binding<'_>, expires: u64, nonce: Nonce) -> Paused {
        Paused {
            request_state: keys.seal(&self.journal, binding, expires, nonce),
            input_requests: self.requests,
        }
    }
}

/// The result that a client gets for a round with open questions. Serialised, it has the members of an
/// [`InputRequiredResult`](turnbuckle_protocol::InputRequiredResult).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Paused {
    /// The questions.
    pub input_requests: OpenAsks,
    /// The state that the client sends back unchanged.
    pub request_state: String,
}
