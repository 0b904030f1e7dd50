//! A parked call: its questions and its outcome.

use std::{fmt::Write, sync::Arc};

use serde_json::json;
use tokio::{sync::Notify, time::Instant};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::RelayAsk;
use turnbuckle_host::ServerId;
use turnbuckle_protocol::Revision;
use turnbuckle_server::RelayReply;

use crate::{
    exchange::call::Context,
    observe::{RequestRecord, WaitingQuestion},
    seal::Ticket,
    translate::{FrontRequest, Question, answer, refusal},
    upstream::Turn,
};

/// How many questions of one call may be open.
const MAX_QUESTIONS: usize = 32;

/// A call that waits for answers.
pub(super) struct ParkedCall {
    pub(super) number: u64,
    pub(super) caller: Option<Box<str>>,
    pub(super) server: ServerId,
    /// The client's name of the tool, prompt or resource.
    name: Option<Box<str>>,
    pub(super) state: Mutex<ParkState>,
    /// Notifies all waiting requests of a change, in the order in which they came.
    pub(super) changed: Notify,
    /// The revision of the server.
    revision: Revision,
    /// Its turn among the calls of its process.
    pub(super) turn: Option<Arc<Turn>>,
}

/// A question that is not answered yet. Its text is stored once, as the server wrote it.
pub(super) struct OpenQuestion {
    number: usize,
    pub(super) ask: RelayAsk,
}

impl OpenQuestion {
    /// Its key in the `inputRequests` of the client.
    fn key(&self) -> String {
        format!("ask-{}", self.number)
    }

    pub(super) fn question(&self) -> Question {
        Question::of_ask(&self.ask)
    }
}

#[derive(Default)]
pub(super) struct ParkState {
    pub(super) round: u32,
    asked: usize,
    /// The open questions, oldest first.
    pub(super) open: Vec<OpenQuestion>,
    /// When the open questions are given up. `None` while the client cannot answer, because it has
    /// not received them or the server works on its answers.
    pub(super) answered_by: Option<Instant>,
    /// When questions were last sent to the client, and how often this happened.
    published: Option<Instant>,
    steps: u32,
    pub(super) outcome: Option<RelayReply>,
    /// The request that gets progress; `None` while no client waits for the call.
    pub(super) request: Option<Arc<FrontRequest>>,
    /// The record of the newest request, if a recorder is set.
    pub(super) record: Option<Arc<RequestRecord>>,
    pub(super) waiters: usize,
    /// Set when no client will request the call again: the client cancelled it, or the gateway closes.
    pub(super) is_given_up: bool,
}

impl ParkState {
    /// Adds a question.
    pub(super) fn add(&mut self, ask: RelayAsk) {
        if self.open.len() >= MAX_QUESTIONS {
            let refused = refusal(&Question::of_ask(&ask));
            return ask.refuse(&refused);
        }
        self.asked += 1;
        let number = self.asked;
        // Most calls have one question, which may wait for long.
        self.open.reserve_exact(1);
        self.open.push(OpenQuestion { number, ask });
    }

    /// Whether the open questions may be sent to the client.
    pub(super) fn is_published(&self) -> bool {
        self.answered_by.is_some()
    }

    /// Sends the open questions to the client, which may answer them until this time.
    pub(super) fn publish(&mut self, answered_by: Instant) {
        self.answered_by = Some(answered_by);
        self.published = Some(Instant::now());
        self.steps += 1;
        self.round += 1;
        // All waiting requests are answered now and are over.
        self.request = None;
    }

    /// Sets the request that waits for the outcome and gets progress.
    pub(super) fn is_awaited_by(&mut self, request: &Arc<FrontRequest>) {
        self.request = Some(Arc::clone(request));
        self.record.clone_from(&request.record);
    }

    /// Whether the call waits for the answers in a request of this round. In a request of an earlier
    /// round it waits for answers to questions that are still open. Their keys are never used again.
    fn awaits(&self, request: &FrontRequest, round: u32) -> bool {
        let is_asked = self.outcome.is_none() && self.is_published();
        is_asked && (self.round == round || (self.round > round && self.is_answered_by(request)))
    }

    /// Whether a request answers an open question.
    fn is_answered_by(&self, request: &FrontRequest) -> bool {
        let responses = request.responses.as_ref().map(|raw| raw.raw().members());
        let mut responses = responses.into_iter().flatten();
        responses.any(|(key, response)| response.is_object() && self.place_of(&key).is_some())
    }

    /// The place of the open question with this key.
    fn place_of(&self, key: &str) -> Option<usize> {
        let number: usize = key.strip_prefix("ask-")?.parse().ok()?;
        let is_meant = |open: &OpenQuestion| open.number == number && open.key() == key;
        self.open.iter().position(is_meant)
    }

    /// Drops the questions that the server has withdrawn.
    pub(super) fn drop_withdrawn(&mut self) {
        self.open.retain(|open| !open.ask.is_withdrawn());
    }
}

impl ParkedCall {
    pub(super) fn new(
        number: u64,
        caller: Option<&str>,
        server: ServerId,
        name: Option<String>,
        revision: Revision,
        turn: Option<Arc<Turn>>,
    ) -> Self {
        Self {
            number,
            caller: caller.map(Into::into),
            server,
            name: name.map(Into::into),
            state: Mutex::default(),
            changed: Notify::new(),
            revision,
            turn,
        }
    }

    pub(super) fn is_of(&self, caller: Option<&str>) -> bool {
        self.caller.as_deref() == caller
    }

    pub(super) fn awaits(&self, request: &FrontRequest, round: u32) -> bool {
        self.state.lock().awaits(request, round)
    }

    pub(super) fn has_changed(&self) {
        self.changed.notify_waiters();
    }

    /// The questions that the client has to answer, in a form for display.
    pub(super) fn questions(&self) -> Vec<WaitingQuestion> {
        let state = self.state.lock();
        let (Some(answered_by), Some(published)) = (state.answered_by, state.published) else {
            return Vec::new();
        };
        let record = state.record.as_ref();
        let view = |open: &OpenQuestion| {
            let (message, kind) = open.question().described();
            WaitingQuestion {
                message,
                kind,
                name: self.name.as_deref().map(str::to_owned),
                server: self.server.as_str().to_owned(),
                caller: self.caller.as_deref().map(str::to_owned),
                step: state.steps,
                since: published.into_std(),
                expires: Some(answered_by.into_std()),
                exchange: record.map(|record| record.number()),
            }
        };
        state.open.iter().map(view).collect()
    }

    /// Gives up the call, even if a client waits for it.
    pub(super) fn give_up(&self) {
        self.state.lock().is_given_up = true;
        self.has_changed();
    }

    /// Passes answers to the server. A retry of an earlier round changes nothing (G5), unless it
    /// answers questions that are still open. Missing answers are asked for again (G7).
    pub(super) fn take_answers(&self, request: &Arc<FrontRequest>, round: u32, again_by: Instant) {
        let mut state = self.state.lock();
        if !state.awaits(request, round) {
            // Another retry came first. While the client is asked again, let other calls have their turn.
            if state.is_published()
                && let Some(turn) = &self.turn
            {
                turn.give();
            }
            return;
        }
        state.is_awaited_by(request);
        let responses = request.responses.as_ref().map(|raw| raw.raw().members());
        for (key, response) in responses.unwrap_or_default() {
            if !response.is_object() {
                continue;
            }
            if let Some(place) = state.place_of(&key) {
                let OpenQuestion { ask, .. } = state.open.remove(place);
                let answer = answer(response.value(), self.revision);
                if let Some(record) = &request.record {
                    record.answer_sent(&answer);
                }
                ask.answer(&answer);
            }
        }
        state.drop_withdrawn();
        if state.open.is_empty() {
            state.answered_by = None;
        } else {
            // The server has to wait for the missing answers, so let other calls have their turn.
            // The client is asked again at once.
            state.answered_by = Some(again_by);
            state.request = None;
            if let Some(turn) = &self.turn {
                turn.give();
            }
        }
        state.round += 1;
        drop(state);
        self.has_changed();
    }

    /// The `input_required` result with the open questions.
    pub(super) fn input_required(
        &self,
        context: &Context,
        request: &FrontRequest,
        state: &ParkState,
    ) -> RelayReply {
        let mut entries = String::new();
        for (index, open) in state.open.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            let (key, entry) = (open.key(), open.question().to_entry());
            let _ = write!(entries, "{comma}{}:{entry}", json!(key));
        }
        let ticket = Ticket::Parked {
            node: context.parked.node(),
            number: self.number,
            round: state.round,
            server: self.server.as_str().to_owned(),
        };
        let lasts = context.park_for;
        let sealed = context
            .sealer
            .seal(&ticket, request.caller(), request.digest(), lasts);
        match sealed {
            Ok(sealed) => RelayReply::Result(
                format!(
                    r#"{{"resultType":"input_required","inputRequests":{{{entries}}},"requestState":{}}}"#,
                    json!(sealed)
                )
                .into_bytes(),
            ),
            Err(reject) => reject.into(),
        }
    }
}
