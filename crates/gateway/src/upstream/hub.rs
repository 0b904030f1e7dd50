//! The calls in flight on one connection, and which of them a question belongs to (G6).
//!
//! Over Streamable HTTP the stream that a question came on tells. On a pipe nothing does: then the only
//! call in flight that may be asked is meant, or one whose tool has asked before. A question that may
//! belong to another caller is refused, and the tools in question take turns from then on.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio::{
    sync::{Semaphore, mpsc},
    task::AbortHandle,
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{RelayAsk, RelaySink};
use turnbuckle_host::ServerId;
use turnbuckle_protocol::{Id, envelope::Raw};

use super::{LaneNews, OnNews, OpenCall, Turn, lane_news::Collected};
use crate::translate::{Question, refusal};

/// How many questions wait for one call to look at them.
const MAX_WAITING_ASKS: usize = 32;

/// How many tools are remembered as asking. A server has fewer.
const MAX_ASKING: usize = 2_000;

/// For how long a call that was given up may still ask: the server may not have noticed.
const GIVEN_UP_FOR: Duration = Duration::from_secs(30);

/// How many calls that were given up are remembered.
const MAX_GIVEN_UP: usize = 64;

/// Which session of a server a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneRole {
    /// The one that the lists are read in, whose changes the supervisor hears of.
    Main,
    /// One for calls of everybody.
    Calls,
    /// One for calls of one caller, whose resources no other caller hears of.
    Caller,
}

/// The calls in flight on one connection.
pub(crate) struct LaneHub {
    /// Whether questions come without a hint which call they belong to.
    is_pipe: AtomicBool,
    role: LaneRole,
    news: Arc<Collected>,
    next: AtomicU64,
    calls: Mutex<LaneCalls>,
    turns: Arc<Semaphore>,
    /// Questions that are on their way to a client, to be taken back.
    answering: Mutex<HashMap<Id, AbortHandle>>,
}

#[derive(Default)]
struct LaneCalls {
    open: Vec<Open>,
    /// Calls that were given up before the server answered.
    given_up: VecDeque<GivenUp>,
    /// Tools and prompts that asked before.
    asking: HashSet<String>,
}

struct Open {
    number: u64,
    caller: Option<String>,
    subject: String,
    asks: mpsc::Sender<Box<RelayAsk>>,
    turn: Arc<Turn>,
}

struct GivenUp {
    caller: Option<String>,
    subject: String,
    until: Instant,
}

impl LaneCalls {
    fn asks(&self, subject: &str) -> bool {
        self.asking.contains(subject)
    }

    fn remember(&mut self, subject: &str) {
        if self.asking.len() < MAX_ASKING && !self.asks(subject) {
            self.asking.insert(subject.to_owned());
        }
    }

    /// Whether a question that came while this call is in flight can be no other caller's.
    fn is_of(&self, call: &Open, now: Instant) -> bool {
        let is_known = self.asks(&call.subject);
        let is_stranger = |caller: &Option<String>| *caller != call.caller;
        self.open
            .iter()
            .filter(|other| is_stranger(&other.caller))
            // A call that waits for its user has asked what it had to ask.
            .all(|other| other.turn.waits() && is_known)
            && self
                .given_up
                .iter()
                .filter(|other| other.until > now && is_stranger(&other.caller))
                .all(|other| is_known && !self.asks(&other.subject))
    }

    /// The call that a question belongs to.
    fn addressee(&self) -> Option<&Open> {
        let mut active: Vec<&Open> = self.open.iter().filter(|it| !it.turn.waits()).collect();
        if active.is_empty() {
            // A question that came late, of a call whose other questions are on their way.
            active.extend(&self.open);
        }
        let mut known = active.iter().filter(|call| self.asks(&call.subject));
        let known = match (known.next(), known.next()) {
            (Some(one), None) => Some(*one),
            _ => None,
        };
        // Of several the last one: a tool asks soon after it was called.
        known.or_else(|| active.last().copied())
    }

    /// Those that a question may have come from take turns from now on.
    fn remember_all(&mut self) {
        let open = self.open.iter().map(|call| call.subject.clone());
        let given_up = self.given_up.iter().map(|call| call.subject.clone());
        let subjects: Vec<String> = open.chain(given_up).collect();
        for subject in &subjects {
            self.remember(subject);
        }
    }
}

impl LaneHub {
    pub(crate) fn new(is_pipe: bool, role: LaneRole, server: ServerId, on_news: OnNews) -> Self {
        Self {
            is_pipe: AtomicBool::new(is_pipe),
            role,
            news: Collected::new(server, on_news),
            next: AtomicU64::new(1),
            calls: Mutex::default(),
            turns: Arc::new(Semaphore::new(1)),
            answering: Mutex::default(),
        }
    }

    /// Questions come without a hint which call they belong to.
    pub(crate) fn set_pipe(&self) {
        self.is_pipe.store(true, Ordering::Relaxed);
    }

    fn is_pipe(&self) -> bool {
        self.is_pipe.load(Ordering::Relaxed)
    }

    /// Enters a call that may be asked, when it is its turn.
    ///
    /// # Errors
    /// If another call keeps its turn for too long. The text says so.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        caller: Option<&str>,
        subject: String,
    ) -> Result<OpenCall, String> {
        let is_pipe = self.is_pipe();
        let turn = Arc::new(Turn::new(is_pipe.then(|| Arc::clone(&self.turns))));
        if is_pipe && self.calls.lock().asks(&subject) {
            turn.take().await?;
        }
        // Boxed: a channel has room for 32 of them from the beginning, and most calls are asked nothing.
        let (sender, asks) = mpsc::channel(MAX_WAITING_ASKS);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.calls.lock().open.push(Open {
            number,
            caller: caller.map(str::to_owned),
            subject: subject.clone(),
            asks: sender,
            turn: Arc::clone(&turn),
        });
        Ok(OpenCall {
            hub: Arc::clone(self),
            number,
            subject,
            asks,
            turn,
            is_answered: false,
        })
    }

    pub(super) fn leave(&self, number: u64, is_answered: bool) {
        let mut calls = self.calls.lock();
        let Some(place) = calls.open.iter().position(|call| call.number == number) else {
            return;
        };
        let left = calls.open.remove(place);
        if is_answered {
            return;
        }
        let now = Instant::now();
        calls.given_up.retain(|call| call.until > now);
        if calls.given_up.len() >= MAX_GIVEN_UP {
            calls.given_up.pop_front();
        }
        calls.given_up.push_back(GivenUp {
            caller: left.caller,
            subject: left.subject,
            until: now + GIVEN_UP_FOR,
        });
    }

    /// The call was asked: from now on its tool takes turns.
    pub(super) fn remember(&self, subject: &str) {
        self.calls.lock().remember(subject);
    }

    /// Whether a question that came for this call can be no other caller's.
    pub(super) fn is_of(&self, number: u64) -> bool {
        let mut calls = self.calls.lock();
        let call = calls.open.iter().find(|call| call.number == number);
        let is_of = call.is_some_and(|call| calls.is_of(call, Instant::now()));
        if !is_of {
            calls.remember_all();
        }
        is_of
    }

    /// Whether nothing is in flight here, or was until a moment ago, that another caller may be asked in
    /// the middle of.
    pub(crate) fn is_alone(&self, caller: Option<&str>) -> bool {
        let calls = self.calls.lock();
        let now = Instant::now();
        let open = calls.open.iter().map(|call| &call.caller);
        let given_up = calls.given_up.iter().filter(|call| call.until > now);
        open.chain(given_up.map(|call| &call.caller))
            .all(|other| other.as_deref() == caller)
    }

    /// Lets a question be taken back while a client is asked.
    pub(crate) fn answering(&self, id: Id, task: AbortHandle) {
        let mut answering = self.answering.lock();
        answering.retain(|_, task| !task.is_finished());
        answering.insert(id, task);
    }

    /// The call that a question belongs to. It looks once more whether the question can be another's.
    fn addressee(&self) -> Option<mpsc::Sender<Box<RelayAsk>>> {
        let calls = self.calls.lock();
        Some(calls.addressee()?.asks.clone())
    }

    /// Refuses a question that the client of no call may be asked.
    pub(super) fn refuse(ask: RelayAsk) {
        let question = Question::new(ask.method(), ask.params().map(Raw::from));
        tracing::debug!(method = question.method, "a question belongs to no call");
        ask.refuse(&refusal(&question));
    }
}

impl RelaySink for LaneHub {
    fn ask(&self, ask: RelayAsk) {
        // What a task asks is asked where its result is waited for, and nowhere else.
        let is_open = self.is_pipe() && ask.related_task().is_none();
        let addressee = is_open.then(|| self.addressee()).flatten();
        let refused = match addressee {
            Some(call) => match call.try_send(Box::new(ask)) {
                Ok(()) => return,
                Err(error) => *error.into_inner(),
            },
            None => ask,
        };
        Self::refuse(refused);
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        let Some(news) = LaneNews::read(method, params) else {
            return;
        };
        let is_told = match (&news, self.role) {
            (LaneNews::Visited(_), _) => true,
            (LaneNews::Updated { .. }, role) => role != LaneRole::Caller,
            // The supervisor hears of the lists of its own session, and reads them first.
            (_, role) => role != LaneRole::Main,
        };
        if is_told {
            self.news.add(news);
        }
    }

    fn withdrawn(&self, id: &Id) {
        if let Some(task) = self.answering.lock().remove(id) {
            task.abort();
        }
    }
}
