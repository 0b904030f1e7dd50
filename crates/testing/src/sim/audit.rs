//! Checks what passes between a client and a server against the rules that hold everywhere.

use std::{
    collections::{BTreeMap, BTreeSet},
    hash::{DefaultHasher, Hasher as _},
};

use serde::Deserialize;
use serde_json::Value;
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{Direction, WireMessage};

use super::SimulationRun;

/// What is looked at of a message. The rest, which may be large, is skipped.
#[derive(Deserialize)]
struct Head {
    /// `None` also where it is null: an error about a message whose id could not be read.
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
}

/// Checks the messages of one connection; see [what is checked](super#what-is-checked).
pub struct Audit {
    run: SimulationRun,
    number: u64,
    may_repeat_answers: bool,
    /// What each end has asked: first the client, then the server.
    asked: Mutex<[Requests; 2]>,
}

/// The requests of one end.
#[derive(Default)]
struct Requests {
    open: BTreeSet<String>,
    /// What was answered, and the hash of the message with the answer.
    answered: BTreeMap<String, u64>,
    /// What progress was reported last, by token.
    tokens: BTreeMap<String, f64>,
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

    /// Lets the client send a message with an answer again, unchanged. With replicas it has to: if the
    /// replica that asked is lost after it took the answer, the client is told to try again.
    pub fn repeated_answers(mut self) -> Self {
        self.may_repeat_answers = true;
        self
    }

    /// Sees a message that passes.
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
            // The last line before a cut may be half a message.
            Err(error) if error.is_eof() && passing.direction == Direction::In => {}
            Err(error) => self.problem(format_args!("{way} is not JSON: {error}")),
        }
    }

    fn one(&self, sender: usize, way: &str, head: Head, hash: u64) {
        let method = head.method.as_deref();
        // Ids that are texts may have random parts.
        let shown = head.id.as_ref().and_then(Value::as_u64).unwrap_or(0);
        let what = method.unwrap_or("answer");
        self.run
            .note(format_args!("client {} {way} {what} {shown}", self.number));
        let id = head.id.map(|id| id.to_string());
        let params = head.params.unwrap_or_default();
        let mut asked = self.asked.lock();
        if method == Some("initialize") {
            // A new session, in which the server counts anew.
            asked[1 - sender] = Requests::default();
        }
        let problem = match (method, id) {
            (Some(_), Some(id)) => asked[sender].ask(id, &params),
            (Some("notifications/progress"), None) => asked[1 - sender].progress(&params),
            (None, Some(id)) => {
                let may_repeat = self.may_repeat_answers && sender == 0;
                let answered = &asked[1 - sender].answered;
                if may_repeat && answered.get(&id) == Some(&hash) {
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
    fn ask(&mut self, id: String, params: &HeadParams) -> Option<String> {
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
        // One that found no connection may be sent once more.
        self.open.insert(id);
        None
    }

    fn answer(&mut self, id: &str, hash: u64) -> Option<String> {
        if self.open.remove(id) {
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
