//! The record of a request while it runs.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use serde_json::value::RawValue;
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::RelayEvent;
use turnbuckle_protocol::{
    Revision,
    envelope::{Raw, RawText},
};
use turnbuckle_server::{RelayReply, RelayedRequest};
use turnbuckle_session::round::RequestDigest;

use super::{
    exchange::{ExchangeSummary, ExchangeView},
    message::{GatewaySide, MessageRole, MessageView},
    recorder::{Ended, Recorder, WaitingGuard},
    view::{WaitingQuestion, text_of, waiting_text},
};

/// How many messages of one request are kept. A request with more usually has many progress and log
/// messages.
const MAX_MESSAGES: usize = 64;

/// A recorded request, which is kept for a while after its end.
pub(crate) struct RequestRecord {
    recorder: Arc<Recorder>,
    pub(super) number: u64,
    began: Instant,
    time: u64,
    method: String,
    name: Option<String>,
    pub(super) caller: Option<String>,
    pub(super) client: Option<String>,
    pub(super) from: Revision,
    /// The digest by which a retry is recognised. Set when the client is asked.
    pub(super) digest: OnceLock<RequestDigest>,
    continues: Option<u64>,
    state: Mutex<RecordState>,
}

#[derive(Default)]
struct RecordState {
    server: Option<(String, Revision)>,
    outcome: Option<(&'static str, Duration)>,
    asked: u32,
    /// When the request to the server was sent, to measure the time until its answer.
    sent: Option<Instant>,
    messages: Vec<MessageView>,
    /// The total size of the messages, in bytes.
    bytes: usize,
    dropped: usize,
    /// Whether the recorder has dropped the record. Then no further messages are recorded.
    is_forgotten: bool,
}

/// The initial data of a record.
pub(super) struct Beginning {
    pub(super) number: u64,
    pub(super) time: u64,
    pub(super) continues: Option<u64>,
}

impl RequestRecord {
    pub(super) fn new(
        recorder: Arc<Recorder>,
        request: &RelayedRequest<'_>,
        client: Option<String>,
        beginning: &Beginning,
    ) -> Self {
        let members = request.members();
        let name = members.text("name").or_else(|| members.text("uri"));
        Self {
            recorder,
            number: beginning.number,
            began: Instant::now(),
            time: beginning.time,
            method: request.method().to_owned(),
            name: name.map(std::borrow::Cow::into_owned),
            caller: request.caller().id().map(str::to_owned),
            client,
            from: request.revision(),
            digest: OnceLock::new(),
            continues: beginning.continues,
            state: Mutex::default(),
        }
    }

    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Sets the digest by which a retry of the request is recognised.
    pub(crate) fn set_digest(&self, digest: RequestDigest) {
        let _ = self.digest.set(digest);
    }

    /// Records a message.
    fn note(&self, hop: GatewaySide, part: MessageRole, method: Option<&str>, text: &str) {
        let at = milliseconds(self.began.elapsed());
        let mut state = self.state.lock();
        if state.is_forgotten {
            return;
        }
        if state.messages.len() >= MAX_MESSAGES && part == MessageRole::Notification {
            state.dropped += 1;
            return;
        }
        let message = MessageView::new(hop, part, method, at, text);
        let bytes = message.text.len();
        state.messages.push(message);
        state.bytes += bytes;
        // Under the lock, so that the size is counted before the record can be dropped.
        self.recorder.grew(bytes);
    }

    /// Stops recording. Returns the size of the recorded messages in bytes.
    pub(super) fn forget(&self) -> usize {
        let mut state = self.state.lock();
        state.is_forgotten = true;
        state.bytes
    }

    /// Records the request of the client.
    pub(super) fn came(&self, params: Option<Raw<'_>>) {
        let text = params.map_or("{}", |params| params.get());
        self.note(
            GatewaySide::Client,
            MessageRole::Request,
            Some(&self.method),
            text,
        );
    }

    /// Records the request that was sent to the server.
    pub(crate) fn sent(&self, server: &str, to: Revision, method: &str, params: Option<&RawText>) {
        {
            let mut state = self.state.lock();
            if state.server.is_none() {
                state.server = Some((server.to_owned(), to));
                self.recorder.sent(self.from, to);
            }
            state.sent = Some(Instant::now());
        }
        let text = params.map_or("{}", |params| params.raw().get());
        self.note(
            GatewaySide::Server,
            MessageRole::Request,
            Some(method),
            text,
        );
    }

    /// Records an event from the server.
    pub(crate) fn heard(&self, event: &RelayEvent) {
        match event {
            RelayEvent::Progress(params) => self.note(
                GatewaySide::Server,
                MessageRole::Notification,
                Some("notifications/progress"),
                params.get(),
            ),
            RelayEvent::Notification(method, params) => {
                let text = text_of(params.as_deref());
                self.note(
                    GatewaySide::Server,
                    MessageRole::Notification,
                    Some(method),
                    text,
                );
            }
            RelayEvent::Ask(ask) => {
                self.asked(1);
                let text = text_of(ask.params());
                self.note(
                    GatewaySide::Server,
                    MessageRole::Question,
                    Some(ask.method()),
                    text,
                );
            }
            RelayEvent::Result(result) => {
                self.answered(false);
                if let Some(questions) = questions_in(result) {
                    self.asked(questions);
                }
                self.note(GatewaySide::Server, MessageRole::Result, None, result.get());
            }
            RelayEvent::Error(error) => {
                self.answered(true);
                self.note(GatewaySide::Server, MessageRole::Error, None, error.get());
            }
            RelayEvent::Lost(error) => {
                self.answered(true);
                let text = serde_json::json!({ "message": error.to_string() });
                self.note(
                    GatewaySide::Server,
                    MessageRole::Error,
                    None,
                    &text.to_string(),
                );
            }
            _ => {}
        }
    }

    /// Records a progress or log message to the client.
    pub(crate) fn told(&self, method: &str, params: Raw<'_>) {
        self.note(
            GatewaySide::Client,
            MessageRole::Notification,
            Some(method),
            params.get(),
        );
    }

    /// Records a question to the client. The question is shown as waiting until the guard is dropped.
    pub(crate) fn asks(&self, method: &str, params: Option<Raw<'_>>) -> WaitingGuard {
        let text = params.map_or("{}", |params| params.get());
        self.note(
            GatewaySide::Client,
            MessageRole::Question,
            Some(method),
            text,
        );
        let (message, kind) = waiting_text(method, params);
        let (server, step) = {
            let state = self.state.lock();
            let server = state.server.as_ref().map(|(server, _)| server.clone());
            (server.unwrap_or_default(), state.asked.max(1))
        };
        self.recorder.waits(WaitingQuestion {
            message,
            kind,
            name: self.name.clone(),
            server,
            caller: self.caller.clone(),
            step,
            since: Instant::now(),
            expires: None,
            exchange: Some(self.number),
        })
    }

    /// Records the client's answer to a question.
    pub(crate) fn answer_came(&self, text: &str) {
        self.note(GatewaySide::Client, MessageRole::Answer, None, text);
    }

    /// Records the answer that was sent to the server.
    pub(crate) fn answer_sent(&self, answer: &RawValue) {
        self.note(GatewaySide::Server, MessageRole::Answer, None, answer.get());
    }

    /// Counts questions of the server.
    fn asked(&self, questions: u32) {
        let mut state = self.state.lock();
        state.asked += questions;
        let to = state.server.as_ref().map(|(_, to)| *to);
        drop(state);
        self.recorder.asked(self, to, questions);
    }

    /// Records that the answer of the server arrived.
    fn answered(&self, is_error: bool) {
        let state = self.state.lock();
        let (Some((server, _)), Some(sent)) = (&state.server, state.sent) else {
            return;
        };
        self.recorder.answered(server, sent.elapsed(), is_error);
    }

    fn end(&self, outcome: &'static str) {
        let took = self.began.elapsed();
        self.state.lock().outcome = Some((outcome, took));
        let ended = Ended {
            took,
            is_asked: outcome == "asked",
        };
        self.recorder.ended(self, &ended);
    }

    pub(super) fn summary(&self) -> ExchangeSummary {
        let state = self.state.lock();
        let (outcome, took) = state.outcome.unwrap_or(("running", self.began.elapsed()));
        ExchangeSummary {
            number: self.number,
            time: self.time,
            method: self.method.clone(),
            name: self.name.clone(),
            caller: self.caller.clone(),
            client: self.client.clone(),
            from: self.from,
            server: state.server.as_ref().map(|(server, _)| server.clone()),
            to: state.server.as_ref().map(|(_, to)| *to),
            outcome,
            milliseconds: milliseconds(took),
            asked: state.asked,
            continues: self.continues,
        }
    }

    pub(super) fn view(&self) -> ExchangeView {
        let summary = self.summary();
        let state = self.state.lock();
        ExchangeView {
            summary,
            messages: state.messages.clone(),
            dropped: state.dropped,
        }
    }
}

/// Records the end of a request: its reply, or that it was cancelled.
pub(crate) struct RecordEnd(Option<Arc<RequestRecord>>);

impl RecordEnd {
    pub(crate) fn new(record: Arc<RequestRecord>) -> Self {
        Self(Some(record))
    }

    /// Records the reply to the client.
    pub(crate) fn reply(mut self, reply: &RelayReply) {
        let Some(record) = self.0.take() else { return };
        let outcome = match reply {
            RelayReply::Result(result) => {
                // The result is text that was just written, and checking this is several times as
                // fast as a lossy conversion.
                let text = match std::str::from_utf8(result) {
                    Ok(text) => text.into(),
                    Err(_) => String::from_utf8_lossy(result),
                };
                record.note(GatewaySide::Client, MessageRole::Result, None, &text);
                outcome_of(&text)
            }
            RelayReply::Error(_, error) => {
                record.note(
                    GatewaySide::Client,
                    MessageRole::Error,
                    None,
                    error.raw().get(),
                );
                "error"
            }
            RelayReply::Reject(reject) => {
                let text = serde_json::to_string(reject.as_error()).unwrap_or_default();
                record.note(GatewaySide::Client, MessageRole::Error, None, &text);
                "error"
            }
            _ => "ok",
        };
        record.end(outcome);
    }
}

impl Drop for RecordEnd {
    fn drop(&mut self) {
        if let Some(record) = self.0.take() {
            record.end("cancelled");
        }
    }
}

/// How many questions the result of a modern server contains.
fn questions_in(result: &RawValue) -> Option<u32> {
    if outcome_of(result.get()) != "asked" {
        return None;
    }
    let questions = Raw::from(result).member("inputRequests").map(Raw::members);
    u32::try_from(questions.unwrap_or_default().len()).ok()
}

fn outcome_of(result: &str) -> &'static str {
    if has_member(result, "resultType", "\"input_required\"") {
        "asked"
    } else if has_member(result, "isError", "true") {
        "tool_error"
    } else {
        "ok"
    }
}

/// Whether an object has this member with this value. It is parsed only if the two occur next to
/// each other somewhere in the text; this avoids parsing most results, however large they are.
fn has_member(object: &str, name: &str, value: &str) -> bool {
    let mut places = memchr::memmem::find_iter(object.as_bytes(), name);
    let may_have = places.any(|at| {
        let rest = object[at + name.len()..].strip_prefix('"');
        let rest = rest.and_then(|rest| rest.trim_start().strip_prefix(':'));
        rest.is_some_and(|rest| rest.trim_start().starts_with(value))
    });
    may_have
        && serde_json::from_str::<&RawValue>(object).is_ok_and(|raw| {
            let member = Raw::from(raw).member(name);
            member.is_some_and(|member| member.get() == value)
        })
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// Makes a record of a request that has begun.
    fn record(recorder: &Arc<Recorder>) -> RequestRecord {
        RequestRecord {
            recorder: Arc::clone(recorder),
            number: 1,
            began: Instant::now(),
            time: 0,
            method: "tools/call".to_owned(),
            name: None,
            caller: None,
            client: None,
            from: Revision::LATEST,
            digest: OnceLock::new(),
            continues: None,
            state: Mutex::default(),
        }
    }

    #[test]
    fn a_message_that_comes_while_its_request_is_forgotten_is_not_counted_for_ever() {
        const REQUESTS: usize = 2_000;
        let recorder = Recorder::new();
        let records: Vec<_> = (0..REQUESTS).map(|_| record(&recorder)).collect();
        let both = Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for record in &records {
                    both.wait();
                    record.answer_came("{}");
                    record.answer_came("{}");
                }
            });
            for record in &records {
                both.wait();
                recorder.forget(record);
            }
        });
        assert_eq!(recorder.bytes(), 0);
    }

    #[test]
    fn the_outcome_is_that_of_the_result_itself() {
        for (result, outcome) in [
            (r#"{"content":[]}"#, "ok"),
            (r#"{"resultType":"complete","isError":false}"#, "ok"),
            (r#"{"resultType" : "input_required"}"#, "asked"),
            ("{\"isError\":\n true}", "tool_error"),
            // A nested member, a text, or a longer name does not count.
            (r#"{"structuredContent":{"isError":true}}"#, "ok"),
            (r#"{"content":[{"text":"\"isError\":true"}]}"#, "ok"),
            (r#"{"isError":trueish}"#, "ok"),
            (
                r#"{"structuredContent":{"isError":false},"isError":true}"#,
                "tool_error",
            ),
            (
                r#"{"text":"\"resultType\":\"input_required\"","resultType":"complete"}"#,
                "ok",
            ),
        ] {
            assert_eq!(outcome_of(result), outcome, "{result}");
        }
    }
}
