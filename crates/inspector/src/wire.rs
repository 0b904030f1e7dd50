//! Every message that was sent or received, with its HTTP head.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::Instant,
};

use serde::Serialize;
use turnbuckle::{
    client::Direction,
    protocol::envelope::{self, Outline},
};
use turnbuckle_base::lock::Mutex;

use super::{
    clock, current,
    events::EventLog,
    message::{about, error_code, is_log, object_of, outcome},
    raw::Raw,
};

/// How many rows are kept: as many as the page shows smoothly, and hours of manual work.
const MAX_ROWS: usize = 20_000;

/// How many bytes are kept; the oldest rows are removed first.
const MAX_BYTES: usize = 128 * 1024 * 1024;

/// How many requests without an answer are remembered. When there are more, all of them are forgotten.
const MAX_OPEN: usize = 4_096;

/// How many rows back to search: an HTTP request is sent right after its message was recorded.
const LOOK_BACK: usize = 64;

/// The messages of all servers.
pub(super) struct WireLog {
    kept: Mutex<KeptRows>,
    events: Arc<EventLog>,
}

#[derive(Default)]
struct KeptRows {
    last: u64,
    bytes: usize,
    dropped: u64,
    rows: VecDeque<Row>,
    open: HashMap<Key, Open>,
}

/// Identifies a request by the server, the direction, and the id.
type Key = (String, bool, String);

struct Open {
    seq: u64,
    since: Instant,
    exchange: Option<u64>,
    round: usize,
    method: Option<String>,
    object: Option<String>,
    /// Whether the answer is no longer awaited; it may still arrive.
    is_over: bool,
}

/// One row, with its message and its HTTP head.
struct Row {
    shown: Shown,
    message: Option<Box<[u8]>>,
    http: Option<HttpHead>,
}

/// One row as it is in the list.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Shown {
    pub(super) seq: u64,
    pub(super) server: String,
    pub(super) exchange: Option<u64>,
    #[serde(serialize_with = "clock::plain")]
    pub(super) time: f64,
    pub(super) direction: &'static str,
    pub(super) kind: &'static str,
    pub(super) method: Option<String>,
    pub(super) object: Option<String>,
    pub(super) id: Option<Raw>,
    pub(super) status: Option<String>,
    #[serde(serialize_with = "clock::plain_or_none")]
    pub(super) ms: Option<f64>,
    pub(super) bytes: usize,
    pub(super) round: usize,
}

/// The heads of an HTTP request and its response, with secrets masked.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HttpHead {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) status: Option<u16>,
    pub(super) request_headers: Vec<(String, String)>,
    pub(super) response_headers: Vec<(String, String)>,
    #[serde(serialize_with = "clock::plain_or_none")]
    pub(super) first_byte_ms: Option<f64>,
}

/// A row with its message.
#[derive(Serialize)]
pub(super) struct Whole {
    #[serde(flatten)]
    shown: Shown,
    message: Option<Raw>,
    http: Option<HttpHead>,
}

/// The rows after a number.
#[derive(Serialize)]
pub(super) struct Rows {
    rows: Vec<Shown>,
    next: Option<u64>,
    dropped: u64,
}

impl WireLog {
    pub(super) fn new(events: Arc<EventLog>) -> Self {
        Self {
            kept: Mutex::default(),
            events,
        }
    }

    /// Records a message; returns its row.
    pub(super) fn message(&self, server: &str, direction: Direction, message: &[u8]) -> Shown {
        let outline = Outline::of(message);
        let mut kept = self.kept.lock();
        let mut shown = Shown {
            seq: 0,
            server: server.to_owned(),
            exchange: current::current().map(|current| current.0),
            time: clock::now(),
            direction: word(direction),
            kind: kind(&outline, message),
            method: outline.method().map(Cow::into_owned),
            object: outline.params.and_then(|params| object_of(params.get())),
            id: id_of(&outline).map(|id| id.value().to_owned().into()),
            status: None,
            ms: None,
            bytes: message.len(),
            round: current::current().map_or(1, |current| current.1),
        };
        kept.relate(&outline, direction, &mut shown);
        let seq = kept.push(Row {
            shown: shown.clone(),
            message: Some(message.into()),
            http: None,
        });
        shown.seq = seq;
        kept.open(&outline, direction, &shown);
        // Published under the lock, here and below, so that events have the order of the changes.
        self.events.publish("wire", &shown);
        shown
    }

    /// Ends an exchange: later messages do not belong to it, except for late answers.
    pub(super) fn end_exchange(&self, exchange: u64) {
        let mut kept = self.kept.lock();
        for open in kept.open.values_mut() {
            open.is_over |= open.exchange == Some(exchange);
        }
    }

    /// The code of the error with which the server answered an exchange, as it was sent: a client converts
    /// the codes of all revisions to those of the newest.
    pub(super) fn error_code(&self, exchange: u64) -> Option<i64> {
        let kept = self.kept.lock();
        let mut rows = kept.rows.iter().rev();
        let answer = rows.find(|Row { shown, .. }| {
            let is_answer = shown.direction == "in" && shown.kind == "response";
            is_answer && shown.exchange == Some(exchange)
        })?;
        error_code(&Outline::of(answer.message.as_deref()?))
    }

    /// Records an HTTP request: in the row of its message, or in a row of its own. Returns the row's number.
    pub(super) fn departs(&self, server: &str, head: HttpHead, body: &[u8]) -> u64 {
        let mut kept = self.kept.lock();
        let found = kept.rows.iter_mut().rev().take(LOOK_BACK).find(|row| {
            let is_same = row.message.as_deref() == Some(body);
            is_same && row.shown.server == server && row.shown.direction == "out"
        });
        if let Some(row) = found {
            row.http = Some(head);
            return row.shown.seq;
        }
        let mut shown = Shown {
            seq: 0,
            server: server.to_owned(),
            exchange: current::current().map(|current| current.0),
            time: clock::now(),
            direction: "out",
            kind: "http",
            method: Some(head.method.clone()),
            object: None,
            id: None,
            status: None,
            ms: None,
            bytes: body.len(),
            round: 1,
        };
        let row = Row {
            shown: shown.clone(),
            message: None,
            http: Some(head),
        };
        shown.seq = kept.push(row);
        self.events.publish("wire", &shown);
        shown.seq
    }

    /// Records the head of the response.
    pub(super) fn arrives(&self, seq: u64, status: u16, headers: Vec<(String, String)>, ms: f64) {
        let mut kept = self.kept.lock();
        let Some(row) = kept.row(seq) else { return };
        let Some(head) = &mut row.http else { return };
        head.status = Some(status);
        head.response_headers = headers;
        head.first_byte_ms = Some(ms);
        row.shown.status = Some(status.to_string());
        row.shown.ms = Some(ms);
        self.events.publish("wire", &row.shown);
    }

    /// The rows after a number, of one server or of all.
    pub(super) fn rows(&self, server: Option<&str>, after: u64, limit: usize) -> Rows {
        let kept = self.kept.lock();
        let first = kept.rows.front().map_or(0, |row| row.shown.seq);
        let skipped = usize::try_from((after + 1).saturating_sub(first)).unwrap_or(usize::MAX);
        let matching = kept.rows.iter().skip(skipped).map(|row| &row.shown);
        let mut rows: Vec<Shown> = matching
            .filter(|shown| server.is_none_or(|server| server == shown.server))
            .take(limit + 1)
            .cloned()
            .collect();
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Rows {
            next: has_more.then(|| rows.last().map_or(after, |row| row.seq)),
            rows,
            dropped: kept.dropped,
        }
    }

    /// One row with its message.
    pub(super) fn whole(&self, seq: u64) -> Option<Whole> {
        let mut kept = self.kept.lock();
        let row = kept.row(seq)?;
        Some(Whole {
            shown: row.shown.clone(),
            message: row.message.as_deref().map(Raw::of_bytes),
            http: row.http.clone(),
        })
    }

    /// Calls `each` with every row, the oldest first.
    pub(super) fn each(&self, mut each: impl FnMut(&Shown, Option<&[u8]>, Option<&HttpHead>)) {
        let kept = self.kept.lock();
        for row in &kept.rows {
            each(&row.shown, row.message.as_deref(), row.http.as_ref());
        }
    }

    /// How long the server took for its newest answer.
    pub(super) fn latency(&self, server: &str) -> Option<f64> {
        let kept = self.kept.lock();
        let mut answers = kept.rows.iter().rev().map(|row| &row.shown);
        answers
            .find(|row| row.server == server && row.direction == "in" && row.kind == "response")
            .and_then(|row| row.ms)
    }
}

impl KeptRows {
    /// Assigns a message to an exchange, by the request that it answers or refers to.
    fn relate(&mut self, outline: &Outline<'_>, direction: Direction, shown: &mut Shown) {
        let answers = |id: &str| {
            let asked = direction == Direction::In;
            (shown.server.clone(), asked, id.to_owned())
        };
        if outline.is_response() {
            shown.status = outcome(outline);
            let open = id_of(outline).and_then(|id| self.open.remove(&answers(id.get())));
            let Some(open) = open else { return };
            shown.ms = Some(clock::milliseconds(open.since.elapsed()));
            shown.exchange = open.exchange;
            shown.round = open.round;
            shown.method = open.method;
            shown.object = open.object;
            let head = self.row(open.seq).and_then(|row| row.http.as_ref());
            if let (Some(status), Some(word)) = (head.and_then(|head| head.status), &shown.status) {
                shown.status = Some(format!("{status} · {word}"));
            }
        } else if id_of(outline).is_none()
            && let Some(open) = about(outline.params).and_then(|id| self.open.get(&answers(id)))
        {
            shown.exchange = open.exchange;
            shown.round = open.round;
        } else if id_of(outline).is_some() && direction == Direction::In {
            shown.exchange = self.only_exchange(&shown.server);
        } else if shown.exchange.is_none() && direction == Direction::In && is_log(outline) {
            // On a separate HTTP stream, the reading task knows the exchange. Over stdio the message does not name it.
            shown.exchange = self.only_exchange(&shown.server);
        }
    }

    /// The exchange under way with a server, if there is only one: questions and log messages in a session then belong
    /// to it.
    fn only_exchange(&self, server: &str) -> Option<u64> {
        let open = self
            .open
            .iter()
            .filter(|((other, is_ours, _), open)| *is_ours && other == server && !open.is_over);
        let mut exchanges = open.filter_map(|(_, open)| open.exchange);
        let only = exchanges.next()?;
        exchanges.all(|other| other == only).then_some(only)
    }

    /// Records a request that waits for its answer.
    fn open(&mut self, outline: &Outline<'_>, direction: Direction, shown: &Shown) {
        let (Some(id), Some(_)) = (id_of(outline), outline.method()) else {
            return;
        };
        if self.open.len() >= MAX_OPEN {
            self.open.clear();
        }
        let asked = direction == Direction::Out;
        let key = (shown.server.clone(), asked, id.get().to_owned());
        let open = Open {
            seq: shown.seq,
            since: Instant::now(),
            exchange: shown.exchange,
            round: shown.round,
            method: shown.method.clone(),
            object: shown.object.clone(),
            is_over: false,
        };
        self.open.insert(key, open);
    }

    fn push(&mut self, mut row: Row) -> u64 {
        self.last += 1;
        row.shown.seq = self.last;
        self.bytes += size(&row);
        self.rows.push_back(row);
        while self.rows.len() > MAX_ROWS || (self.bytes > MAX_BYTES && self.rows.len() > 1) {
            let oldest = self.rows.pop_front();
            self.bytes -= oldest.as_ref().map_or(0, size);
            self.dropped += 1;
        }
        self.last
    }

    /// The row with this number. Rows are numbered without gaps.
    fn row(&mut self, seq: u64) -> Option<&mut Row> {
        let first = self.rows.front()?.shown.seq;
        let index = usize::try_from(seq.checked_sub(first)?).ok()?;
        self.rows.get_mut(index)
    }
}

/// The id of a message; `null` is not one.
fn id_of<'a>(outline: &Outline<'a>) -> Option<envelope::Raw<'a>> {
    outline.id.filter(|id| !id.is_null())
}

fn size(row: &Row) -> usize {
    row.message.as_ref().map_or(0, |message| message.len())
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Out => "out",
        Direction::In => "in",
    }
}

fn kind(outline: &Outline<'_>, message: &[u8]) -> &'static str {
    if outline.is_response() {
        "response"
    } else if message.trim_ascii_start().first() == Some(&b'[') {
        "batch"
    } else if id_of(outline).is_some() {
        "request"
    } else {
        "notification"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> WireLog {
        WireLog::new(Arc::default())
    }

    #[test]
    fn an_answer_is_joined_to_its_request() {
        let log = log();
        let request = br#"{"id":1,"method":"tools/call","params":{"name":"echo"}}"#;
        log.message("s1", Direction::Out, request);
        log.message("s2", Direction::In, br#"{"id":1,"result":{}}"#);
        log.message("s1", Direction::In, br#"{"id":1,"result":{}}"#);
        let rows = log.rows(Some("s1"), 0, 10).rows;
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].object.as_deref(), Some("echo"));
        assert!(rows[1].ms.is_some());
        assert!(log.rows(Some("s2"), 0, 10).rows[0].method.is_none());
    }

    #[test]
    fn a_line_of_a_log_belongs_to_the_only_exchange() {
        let log = log();
        let line = br#"{"method":"notifications/message","params":{"level":"info","data":1}}"#;
        let call = |n: u64| {
            let request = format!(r#"{{"id":{n},"method":"tools/call","params":{{}}}}"#);
            let sent = async { log.message("s1", Direction::Out, request.as_bytes()) };
            at_once(current::for_exchange(n, sent))
        };
        assert_eq!(log.message("s1", Direction::In, line).exchange, None);
        call(1);
        assert_eq!(log.message("s1", Direction::In, line).exchange, Some(1));
        assert_eq!(log.message("s2", Direction::In, line).exchange, None);
        call(2);
        assert_eq!(log.message("s1", Direction::In, line).exchange, None);
        log.message("s1", Direction::In, br#"{"id":1,"result":{}}"#);
        assert_eq!(log.message("s1", Direction::In, line).exchange, Some(2));
        // A request that was cancelled has no answer.
        call(3);
        log.end_exchange(2);
        assert_eq!(log.message("s1", Direction::In, line).exchange, Some(3));
    }

    #[test]
    fn an_error_has_the_code_that_came() {
        let log = log();
        let request = br#"{"id":1,"method":"resources/read","params":{"uri":"a:b"}}"#;
        let sent = async { log.message("s1", Direction::Out, request) };
        at_once(current::for_exchange(7, sent));
        assert_eq!(log.error_code(7), None);
        let answer = br#"{"id":1,"error":{"code":-32002,"message":"no","data":{"uri":"a:b"}}}"#;
        log.message("s1", Direction::In, answer);
        assert_eq!(log.error_code(7), Some(-32002));
        assert_eq!(log.error_code(8), None);
    }

    /// Polls a future that must be ready at once.
    fn at_once<F: Future>(work: F) -> F::Output {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(work).poll(&mut context) {
            std::task::Poll::Ready(output) => output,
            std::task::Poll::Pending => unreachable!("nothing in it waits"),
        }
    }

    #[test]
    fn old_rows_are_dropped_and_said() {
        let log = log();
        for _ in 0..MAX_ROWS + 5 {
            log.message("s1", Direction::In, b"{}");
        }
        let rows = log.rows(None, 0, 3);
        assert_eq!((rows.dropped, rows.rows[0].seq), (5, 6));
        assert_eq!(rows.next, Some(8));
        assert!(log.whole(5).is_none() && log.whole(6).is_some());
    }

    #[test]
    fn large_messages_do_not_pile_up() {
        let log = log();
        let large = vec![b' '; MAX_BYTES / 2];
        for _ in 0..4 {
            log.message("s1", Direction::In, &large);
        }
        assert!(log.kept.lock().bytes <= MAX_BYTES);
    }
}
