//! One run of a handler: what it asks, and what it gets.

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

/// The most questions that are open at once.
///
/// Each is a form or a consent that a user sees; what asks for more is a loop.
pub const MAX_OPEN_ASKS: usize = 32;

/// One run of a handler, from its start to its result or to the asks that have no answer yet.
///
/// In a modern exchange: make it with [`new`](Self::new) or [`resume`](Self::resume),
/// [`merge`](Self::merge) the answers of the request, run the handler, and [`pause`](Self::pause)
/// when it waits. In a session send what [`open`](Self::open) holds as requests, `merge` each
/// response, and `withdraw` those that failed. On a task publish `open` and `merge` what comes.
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
    /// It is answered, and the answer fits it. Declined and cancelled are answers.
    Answered(InputResponse),
    /// It has to be put to the client.
    Open,
    /// It cannot be put to this client.
    Impossible(Impossible),
}

/// Why a question gets neither an answer nor a place among the open ones.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The client's fault: what it answered does not fit the question. Reject the request.
    #[error(transparent)]
    BadAnswer(#[from] BadAnswer),
    /// The handler's fault: it asked something else before, or too much.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The handler's fault: the question cannot be sent to any client.
    #[error("ask `{key:.64}` cannot be sent: {reason}")]
    BadQuestion {
        /// The key.
        key: String,
        /// The problem.
        reason: &'static str,
    },
    /// The handler's fault: too many questions at once.
    #[error("ask `{key:.64}` is one more than the {MAX_OPEN_ASKS} that may be open at once")]
    TooManyOpen {
        /// The key.
        key: String,
    },
}

impl Round {
    /// The first round of a call.
    pub fn new(revision: Revision, capabilities: impl Into<Declared>) -> Self {
        Self::resume(revision, capabilities, Journal::new())
    }

    /// A round that knows what those before it learnt.
    pub fn resume(revision: Revision, capabilities: impl Into<Declared>, journal: Journal) -> Self {
        Self {
            revision,
            capabilities: capabilities.into(),
            journal,
            open: OpenAsks::default(),
            offered: BTreeMap::new(),
        }
    }

    /// The journal.
    pub const fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The journal, to store memos in.
    pub const fn journal_mut(&mut self) -> &mut Journal {
        &mut self.journal
    }

    /// The questions without an answer, in the order they were first asked and in the words of the
    /// client's revision.
    pub const fn open(&self) -> &OpenAsks {
        &self.open
    }

    /// Asks. The same question under the same key counts once, however often it is asked.
    ///
    /// # Errors
    /// [`AskError`]; each variant says whether the handler or the client is at fault.
    pub fn ask(&mut self, key: &str, request: &InputRequest) -> Result<AskOutcome, AskError> {
        self.ask_as(
            key,
            &QuestionDraft::Request(request.clone()),
            Fingerprint::of(request),
        )
    }

    /// Asks what is asked often, with its fingerprint at hand.
    ///
    /// # Errors
    /// Those of [`ask`](Self::ask).
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

    /// Takes in answers: the `inputResponses` of a retry or of `tasks/update`, or the one result of
    /// a request in a session. Either all of them are taken or none.
    ///
    /// Answers under unknown keys are ignored, as are those to questions that have an answer
    /// already; missing ones leave their questions open. If there is no record of any question, the
    /// request came without its state: then an answer counts for the question that the handler asks
    /// under its key. The specification allows both: a client MUST send back the state that it was
    /// given, but a server may also work from the retry alone, and the official conformance suite
    /// sends answers without a state. Without the state there is no proof that this very question
    /// was answered; a server that needs the proof must not call this without a state.
    ///
    /// # Errors
    /// When an answer does not fit its question, or is too large to keep.
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

    /// Writes down answers: either all of them or none.
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

    /// The error that ends a call until the user has visited these URLs, if the client's revision
    /// has such an error; other clients are asked instead. Keys that are not an open visit are
    /// ignored.
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

    /// Withdraws an open question because its answer is no longer wanted, or because the client
    /// answered it with an error. It may be asked again.
    pub fn withdraw(&mut self, key: &str) -> Option<QuestionDraft> {
        self.open.remove(key)
    }

    /// Ends the round with its open questions, if there are any. Nothing of the round is left in
    /// here then.
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

    /// The journal, when the round is over.
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

    /// The question in the form of the client's revision, if the client can be asked.
    fn worded(
        &mut self,
        key: &str,
        question: &QuestionDraft,
    ) -> Result<Result<QuestionDraft, Impossible>, AskError> {
        // A form of ours is in the words of the newest revision already.
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

/// A round that ended with open questions: what the client is asked, and what must be known when
/// it comes back.
#[derive(Clone, Debug)]
pub struct Pause {
    /// The questions, at least one.
    pub requests: OpenAsks,
    /// The journal.
    pub journal: Journal,
}

impl Pause {
    /// What to reply with: the questions, and the journal as a sealed `requestState`.
    ///
    /// `expires` is in milliseconds since 1970, `nonce` is 24 random bytes used nowhere else.
    pub fn seal(self, keys: &KeyRing, binding: &Binding<'_>, expires: u64, nonce: Nonce) -> Paused {
        Paused {
            request_state: keys.seal(&self.journal, binding, expires, nonce),
            input_requests: self.requests,
        }
    }
}

/// The result that a client gets for a round that ended with open questions: with serde, the
/// members of an [`InputRequiredResult`](turnbuckle_protocol::InputRequiredResult).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Paused {
    /// The questions.
    pub input_requests: OpenAsks,
    /// The state that it sends back unchanged.
    pub request_state: String,
}
