//! Checks the messages between a client and a server against rules that hold for every server.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hasher as _},
};

use serde::Deserialize;
use serde_json::Value;
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{Direction, WireMessage};

use super::SimulationRun;

/// The parts of a message that are checked. The rest, which may be large, is skipped.
#[derive(Deserialize)]
struct Head {
    /// `None` also if it is null: an error about a message whose id could not be read.
    id: Option<Value>,
    method: Option<String>,
    params: Option<HeadParams>,
}

#[derive(Default, Deserialize)]
struct HeadParams {
    #[serde(rename = "_meta")]
    meta: Option<Value>,
    #[serde(default, rename = "progressToken")]
    progress_token: Value,
    progress: Option<f64>,
    /// The request that is cancelled.
    #[serde(rename = "requestId")]
    request_id: Option<Value>,
}

/// Checks the messages of one connection; see [what is checked](super#what-is-checked).
pub struct Audit {
    run: SimulationRun,
    number: u64,
    may_repeat_answers: bool,
    /// The requests of each end: first the client's, then the server's.
    asked: Mutex<[Requests; 2]>,
}

/// The requests of one end.
#[derive(Default)]
struct Requests {
    open: BTreeMap<String, Awaited>,
    /// The answered requests, each with the hash of the message that answered it.
    answered: BTreeMap<String, u64>,
    /// The answered requests of the previous session: a repeated answer may arrive late.
    answered_before: BTreeMap<String, u64>,
    /// The last reported progress, by token.
    tokens: BTreeMap<String, f64>,
}

/// A request that has no answer yet.
struct Awaited {
    method: String,
    /// Whether the request was cancelled. It then needs no answer, but an answer may be on its way already.
    is_cancelled: bool,
}

impl Awaited {
    /// Whether it needs an answer. A subscription is open until one side ends it.
    fn needs_answer(&self) -> bool {
        !self.is_cancelled && self.method != "subscriptions/listen"
    }
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Audit")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Audit {
    pub(super) fn new(run: SimulationRun, number: u64) -> Self {
        Self {
            run,
            number,
            may_repeat_answers: false,
            asked: Mutex::default(),
        }
    }

    /// Lets the client send a message with an answer again, unchanged. Over HTTP it has to: if the connection
    /// is lost, it cannot know whether the answer arrived.
    pub fn repeated_answers(mut self) -> Self {
        self.may_repeat_answers = true;
        self
    }

    /// How many requests of both ends still need an answer.
    pub fn unanswered(&self) -> usize {
        let asked = self.asked.lock();
        asked.iter().flat_map(Requests::unanswered).count()
    }

    /// Reports each request that has no answer and was not cancelled.
    ///
    /// Call it while the connection is open, on a network that is [calm](super::Network::calm), after the answers
    /// have had time to arrive. If a connection is lost, answers may be lost with it.
    pub fn all_answered(&self) {
        let asked = self.asked.lock();
        let ends = asked.iter().zip(["the client", "the server"]);
        let missing: Vec<String> = ends
            .flat_map(|(requests, end)| {
                let unanswered = requests.unanswered();
                unanswered.map(move |(id, awaited)| {
                    format!(
                        "request {id} of {end} ({}) is never answered",
                        awaited.method
                    )
                })
            })
            .collect();
        drop(asked);
        for missing in missing {
            self.problem(format_args!("{missing}"));
        }
    }

    /// Checks a message that passes.
    pub fn see(&self, passing: &WireMessage<'_>) {
        let (sender, way) = match passing.direction {
            Direction::Out => (0, "->"),
            Direction::In => (1, "<-"),
        };
        let read = if passing.message.first() == Some(&b'[') {
            serde_json::from_slice::<Vec<Head>>(passing.message)
        } else {
            serde_json::from_slice(passing.message).map(|head| vec![head])
        };
        match read {
            Ok(heads) => {
                let hash = hash_of(passing.message);
                for head in heads {
                    self.one(sender, way, head, hash);
                }
            }
            // The last line before a connection is cut may be half a message.
            Err(error) if error.is_eof() && passing.direction == Direction::In => {}
            Err(error) => self.problem(format_args!("{way} is not JSON: {error}")),
        }
    }

    fn one(&self, sender: usize, way: &str, head: Head, hash: u64) {
        let method = head.method.as_deref();
        // Ids that are strings may have random parts.
        let shown = head.id.as_ref().and_then(Value::as_u64).unwrap_or(0);
        let what = method.unwrap_or("answer");
        self.run
            .note(format_args!("client {} {way} {what} {shown}", self.number));
        let id = head.id.map(|id| id.to_string());
        let params = head.params.unwrap_or_default();
        let mut asked = self.asked.lock();
        if method == Some("initialize") {
            // A new session, in which the server counts from the start. An earlier `initialize` was refused by HTTP
            // itself, as a server of HTTP+SSE refuses that of Streamable HTTP.
            asked[1 - sender].begin_session();
            asked[sender].cancel_method("initialize");
        }
        let problem = match (method, id) {
            (Some(method), Some(id)) => asked[sender].ask(id, method, &params),
            (Some("notifications/cancelled"), None) => {
                asked[sender].cancel(&params);
                None
            }
            (Some("notifications/progress"), None) => asked[1 - sender].progress(&params),
            (None, Some(id)) => {
                let may_repeat = self.may_repeat_answers && sender == 0;
                if may_repeat && asked[1 - sender].is_answered_by(&id, hash) {
                    None
                } else {
                    asked[1 - sender].answer(&id, hash)
                }
            }
            (Some(_) | None, None) => None,
        };
        drop(asked);
        if let Some(problem) = problem {
            self.problem(format_args!("{way} {problem}"));
        }
    }

    fn problem(&self, problem: std::fmt::Arguments<'_>) {
        self.run
            .problem(format_args!("client {}: {problem}", self.number));
    }
}

fn hash_of(message: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(message);
    hasher.finish()
}

impl Requests {
    fn unanswered(&self) -> impl Iterator<Item = (&String, &Awaited)> {
        let open = self.open.iter();
        open.filter(|(_, awaited)| awaited.needs_answer())
    }

    fn cancel(&mut self, params: &HeadParams) {
        let id = params.request_id.as_ref().map(Value::to_string);
        if let Some(awaited) = id.and_then(|id| self.open.get_mut(&id)) {
            awaited.is_cancelled = true;
        }
    }

    /// Starts a new session: the requests of the previous one are forgotten.
    fn begin_session(&mut self) {
        *self = Self {
            answered_before: std::mem::take(&mut self.answered),
            ..Self::default()
        };
    }

    /// Whether this same message has already answered the request.
    fn is_answered_by(&self, id: &str, hash: u64) -> bool {
        let all = [&self.answered, &self.answered_before];
        all.iter().any(|answered| answered.get(id) == Some(&hash))
    }

    fn cancel_method(&mut self, method: &str) {
        let open = self.open.values_mut();
        for awaited in open.filter(|awaited| awaited.method == method) {
            awaited.is_cancelled = true;
        }
    }

    fn ask(&mut self, id: String, method: &str, params: &HeadParams) -> Option<String> {
        if let Some(token) = params
            .meta
            .as_ref()
            .and_then(|meta| meta.get("progressToken"))
        {
            self.tokens.insert(token.to_string(), f64::NEG_INFINITY);
        }
        if self.answered.contains_key(&id) {
            return Some(format!("uses request id {id} again after it was answered"));
        }
        // A request that could not be sent may be sent again.
        let awaited = Awaited {
            method: method.to_owned(),
            is_cancelled: false,
        };
        self.open.insert(id, awaited);
        None
    }

    fn answer(&mut self, id: &str, hash: u64) -> Option<String> {
        if self.open.remove(id).is_some() {
            self.answered.insert(id.to_owned(), hash);
            None
        } else if self.answered.contains_key(id) {
            Some(format!("answers request {id} a second time"))
        } else {
            Some(format!("answers request {id}, which was never sent"))
        }
    }

    fn progress(&mut self, params: &HeadParams) -> Option<String> {
        let token = params.progress_token.to_string();
        let progress = params.progress.unwrap_or(f64::NAN);
        match self.tokens.get_mut(&token) {
            None => Some(format!(
                "reports progress for {token}, which was never sent"
            )),
            Some(last) if *last < progress => {
                *last = progress;
                None
            }
            Some(last) => Some(format!("reports progress {progress} after {last}")),
        }
    }
}
