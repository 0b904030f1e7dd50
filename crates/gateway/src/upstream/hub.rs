//! The calls in flight on one connection, and which of them a question belongs to (G6).
//!
//! Over Streamable HTTP the stream that a question came on tells. On a pipe nothing does: then the only
//! call in flight that may be asked is meant, or one whose tool has asked before. A question that may
//! belong to another caller is refused, and the tools in question take turns from then on.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    task::AbortHandle,
    time,
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{RelayAsk, RelaySink};
use turnbuckle_protocol::{Id, envelope::Raw};

use crate::translate::{Question, refusal, text_of};

/// How many questions wait for one call to look at them.
const MAX_WAITING_ASKS: usize = 32;

/// How many tools are remembered as asking. A server has fewer.
const MAX_ASKING: usize = 2_000;

/// How long a call waits for another call that may be asked, on the same process.
const TURN_WITHIN: Duration = Duration::from_mins(2);

/// Told what a server says that belongs to no call.
pub(crate) type OnVisited = Arc<dyn Fn(&str) + Send + Sync>;

/// The calls in flight on one connection.
pub(crate) struct LaneHub {
    /// Whether questions come without a hint which call they belong to.
    is_pipe: AtomicBool,
    on_visited: OnVisited,
    next: AtomicU64,
    open: Mutex<Vec<Open>>,
    /// Tools and prompts that asked before.
    asking: Mutex<HashSet<String>>,
    turn: Arc<Semaphore>,
    /// Questions that are on their way to a client, to be taken back.
    answering: Mutex<HashMap<Id, AbortHandle>>,
}

struct Open {
    number: u64,
    caller: Option<String>,
    subject: String,
    asks: mpsc::Sender<RelayAsk>,
    is_answered_first: Arc<AtomicBool>,
}

/// A call in flight that may be asked. Dropping it ends that.
pub(crate) struct OpenCall {
    hub: Arc<LaneHub>,
    number: u64,
    subject: String,
    asks: mpsc::Receiver<RelayAsk>,
    is_answered_first: Arc<AtomicBool>,
}

impl OpenCall {
    /// The next question that came without a stream.
    pub(crate) async fn ask(&mut self) -> RelayAsk {
        match self.asks.recv().await {
            Some(ask) => ask,
            // The hub holds the other end for as long as this is there.
            None => std::future::pending().await,
        }
    }

    /// Set while the call waits for answers of its client: until it has them, it asks nothing more.
    pub(crate) fn waits_for_answers(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_answered_first)
    }

    /// The call was asked: from now on its tool takes turns.
    pub(crate) fn remember(&self) {
        self.hub.remember(&self.subject);
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        let mut open = self.hub.open.lock();
        open.retain(|other| other.number != self.number);
    }
}

impl LaneHub {
    pub(crate) fn new(is_pipe: bool, on_visited: OnVisited) -> Self {
        Self {
            is_pipe: AtomicBool::new(is_pipe),
            on_visited,
            next: AtomicU64::new(1),
            open: Mutex::default(),
            asking: Mutex::default(),
            turn: Arc::new(Semaphore::new(1)),
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

    /// Enters a call that may be asked.
    pub(crate) fn enter(self: &Arc<Self>, caller: Option<&str>, subject: String) -> OpenCall {
        let (sender, asks) = mpsc::channel(MAX_WAITING_ASKS);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let is_answered_first = Arc::<AtomicBool>::default();
        self.open.lock().push(Open {
            number,
            caller: caller.map(str::to_owned),
            subject: subject.clone(),
            asks: sender,
            is_answered_first: Arc::clone(&is_answered_first),
        });
        OpenCall {
            hub: Arc::clone(self),
            number,
            subject,
            asks,
            is_answered_first,
        }
    }

    /// Waits for the turn of a tool that asks. `None` if there is no need to wait.
    pub(crate) async fn turn(&self, subject: &str) -> Result<Option<OwnedSemaphorePermit>, String> {
        if !self.is_pipe() || !self.asking.lock().contains(subject) {
            return Ok(None);
        }
        let turn = Arc::clone(&self.turn).acquire_owned();
        match time::timeout(TURN_WITHIN, turn).await {
            Ok(permit) => Ok(permit.ok()),
            Err(_) => Err(format!(
                "another call has waited for answers of its user for more than {TURN_WITHIN:?}; \
                 try again later"
            )),
        }
    }

    fn remember(&self, subject: &str) {
        let mut asking = self.asking.lock();
        if asking.len() < MAX_ASKING && !asking.contains(subject) {
            asking.insert(subject.to_owned());
        }
    }

    /// Lets a question be taken back while a client is asked.
    pub(crate) fn answering(&self, id: Id, task: AbortHandle) {
        let mut answering = self.answering.lock();
        answering.retain(|_, task| !task.is_finished());
        answering.insert(id, task);
    }

    /// The call that a question belongs to.
    fn addressee(&self) -> Option<mpsc::Sender<RelayAsk>> {
        let all = self.open.lock();
        let is_active = |call: &&Open| !call.is_answered_first.load(Ordering::Acquire);
        let mut open: Vec<&Open> = all.iter().filter(is_active).collect();
        if open.is_empty() {
            // A question that came late, of a call whose other questions are on their way.
            open.extend(all.iter());
        }
        let (first, others) = open.split_first()?;
        if others.is_empty() {
            return Some(first.asks.clone());
        }
        let asking = self.asking.lock();
        let mut known = open.iter().filter(|call| asking.contains(&call.subject));
        if let (Some(one), None) = (known.next(), known.next()) {
            return Some(one.asks.clone());
        }
        drop(asking);
        if others.iter().all(|other| other.caller == first.caller) {
            return Some(first.asks.clone());
        }
        // It may be somebody else's: next time the tools take turns.
        let subjects: Vec<String> = open.iter().map(|call| call.subject.clone()).collect();
        drop(all);
        for subject in &subjects {
            self.remember(subject);
        }
        None
    }
}

impl RelaySink for LaneHub {
    fn ask(&self, ask: RelayAsk) {
        let addressee = self.is_pipe().then(|| self.addressee()).flatten();
        let refused = match addressee {
            Some(call) => match call.try_send(ask) {
                Ok(()) => return,
                Err(error) => error.into_inner(),
            },
            None => ask,
        };
        let question = Question::new(refused.method(), refused.params().map(Raw::from));
        tracing::debug!(method = question.method, "a question belongs to no call");
        refused.refuse(&refusal(&question));
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        if method == "notifications/elicitation/complete"
            && let Some(id) = params.and_then(|raw| Raw::from(raw).member("elicitationId"))
            && let Some(id) = text_of(id)
        {
            (self.on_visited)(&id);
        }
    }

    fn withdrawn(&self, id: &Id) {
        if let Some(task) = self.answering.lock().remove(id) {
            task.abort();
        }
    }
}
