//! The encrypted data that other replicas need to continue a task.

use std::{
    collections::HashSet,
    sync::{Arc, OnceLock},
};

use base64::{Engine as _, prelude::BASE64_STANDARD_NO_PAD};
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::CallToolResult;
use turnbuckle_session::round::Journal;
use turnbuckle_store::task::{
    JournalChange, LeasedTasks, Restart, RunChange, TaskChange, TaskRecord,
};

use super::stored_call::StoredCall;
use crate::{
    Failure,
    engine::{Responder, StartedCall, exchange::CallRun},
    handler::TaskChannel,
};

/// 256 KiB: the largest call that is kept for other replicas. A task with larger arguments fails if its
/// replica ends.
const MAX_CALL_BYTES: usize = 256 * 1024;

/// Tasks that are being taken over at a time. Others are looked at again.
const MAX_ADOPTING: usize = 100;

/// Tasks that cannot be read here, and that wait for another replica, at a time. Others are looked at
/// again.
const MAX_LEFT: usize = 1_000;

/// What is sealed for which purpose.
const CALL: &[u8] = b"task call";
const JOURNAL: &[u8] = b"task journal";

/// The journal of one task cannot be used for another: it has the answers that were given.
fn journal_of(task: &str) -> Vec<u8> {
    [JOURNAL, b" ", task.as_bytes()].concat()
}

/// Starts calls again, and seals what is kept of them.
pub(crate) trait CallStarter: Send + Sync {
    /// Starts a call of another replica.
    fn start(
        &self,
        call: &StoredCall,
        journal: Journal,
        channel: Arc<TaskChannel>,
    ) -> Result<StartedCall<CallToolResult>, Failure>;

    /// What writes results.
    fn responder(&self) -> Option<Arc<Responder>>;

    /// Seals bytes for a purpose; `None` if that is not possible.
    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Option<Vec<u8>>;

    /// Opens what was sealed for a purpose.
    fn open(&self, purpose: &[u8], sealed: Vec<u8>) -> Option<Vec<u8>>;
}

/// The tasks that replicas share, and what starts calls of other replicas here.
pub(crate) struct Restarts {
    pub(crate) leased: Arc<LeasedTasks>,
    starter: OnceLock<Box<dyn CallStarter>>,
    adopting: Mutex<Adoptions>,
}

/// Tasks of other replicas, by their ids.
#[derive(Default)]
struct Adoptions {
    taken: HashSet<String>,
    left: HashSet<String>,
}

impl Adoptions {
    fn begin(&mut self, task: &str) -> bool {
        self.taken.len() < MAX_ADOPTING
            && !self.left.contains(task)
            && self.taken.insert(task.to_owned())
    }

    fn leave(&mut self, task: &str) -> bool {
        self.taken.remove(task);
        self.left.len() < MAX_LEFT && self.left.insert(task.to_owned())
    }

    fn end(&mut self, task: &str) {
        self.taken.remove(task);
        self.left.remove(task);
    }
}

impl Restarts {
    pub(crate) fn new(leased: Arc<LeasedTasks>) -> Self {
        Self {
            leased,
            starter: OnceLock::new(),
            adopting: Mutex::default(),
        }
    }

    /// Says what starts calls. It counts from the first task on.
    pub(crate) fn start_with(&self, starter: Box<dyn CallStarter>) {
        let _ = self.starter.set(starter);
    }

    pub(super) fn starter(&self) -> Option<&dyn CallStarter> {
        self.starter.get().map(AsRef::as_ref)
    }

    /// What is kept of a call that becomes a task; `None` if it is too large.
    pub(super) fn keep(&self, call: &StoredCall) -> Option<String> {
        let text = serde_json::to_vec(call).ok()?;
        if text.len() > MAX_CALL_BYTES {
            tracing::warn!(
                tool = call.tool,
                bytes = text.len(),
                "a call is too large for other replicas to go on with"
            );
            return None;
        }
        self.seal(CALL, &text)
    }

    /// The journal of a call that runs, sealed for its task.
    pub(super) fn journal<T>(&self, task: &str, run: &CallRun<T>) -> Option<String> {
        let journal = match run.asking() {
            Some(asking) => asking.journal(),
            None => serde_json::to_string(&Journal::new()).ok(),
        };
        self.seal(&journal_of(task), journal?.as_bytes())
    }

    /// The call of a task and what is known of it, as another replica kept them.
    pub(super) fn read(
        &self,
        record: &TaskRecord,
        restart: &Restart,
    ) -> Option<(StoredCall, Journal)> {
        let call = self.open(CALL, &restart.call)?;
        let task = &record.task.task_id;
        let call = StoredCall::read(&call, &record.owner, task)?;
        // The first one was sealed before the store had added to the id of the task.
        let journal = self
            .open(&journal_of(task), &restart.journal)
            .or_else(|| self.open(&journal_of(&call.task), &restart.journal))?;
        Some((call, serde_json::from_slice(&journal).ok()?))
    }

    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Option<String> {
        let sealed = self.starter()?.seal(purpose, bytes)?;
        Some(BASE64_STANDARD_NO_PAD.encode(sealed))
    }

    fn open(&self, purpose: &[u8], text: &str) -> Option<Vec<u8>> {
        let sealed = BASE64_STANDARD_NO_PAD.decode(text).ok()?;
        self.starter()?.open(purpose, sealed)
    }

    /// Begins to take a task over, unless that is under way; `None` also if there are too many.
    pub(super) fn adopt(self: &Arc<Self>, task: &str) -> Option<Adopting> {
        let begins = self.adopting.lock().begin(task);
        begins.then(|| Adopting {
            restarts: Arc::clone(self),
            task: task.to_owned(),
        })
    }
}

/// A task that is being taken over.
pub(super) struct Adopting {
    restarts: Arc<Restarts>,
    task: String,
}

impl Adopting {
    /// The task is not taken over now, and waits for another replica. It does not count among those that
    /// are taken over. False if too many wait.
    pub(super) fn leave(&self) -> bool {
        self.restarts.adopting.lock().leave(&self.task)
    }
}

impl Drop for Adopting {
    fn drop(&mut self) {
        self.restarts.adopting.lock().end(&self.task);
    }
}

/// The time that this replica has with a task which others may go on with.
pub(super) struct Turn {
    pub(super) restarts: Arc<Restarts>,
    pub(super) number: u32,
}

impl Turn {
    /// What happens to the task in this turn.
    pub(super) fn change(&self, journal: JournalChange, change: Option<TaskChange>) -> TaskChange {
        TaskChange::Run(RunChange {
            turn: self.number,
            journal,
            change: change.map(Box::new),
        })
    }

    /// Whether it still is the turn of this replica. A replica of a version that does not know of
    /// turns may have left them out; then no replica takes the task over.
    pub(super) fn is_in(&self, record: &TaskRecord) -> bool {
        let restart = record.restart.as_ref();
        restart.is_none_or(|restart| restart.turn == self.number)
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use turnbuckle_store::{
        bus::{MemoryBus, NodeId},
        task::{MemoryTasks, NewTask, TaskKey},
    };

    use super::*;

    /// Puts the purpose in front, in place of a cipher.
    struct Plain;

    impl CallStarter for Plain {
        fn start(
            &self,
            _: &StoredCall,
            _: Journal,
            _: Arc<TaskChannel>,
        ) -> Result<StartedCall<CallToolResult>, Failure> {
            unreachable!("nothing is started here")
        }

        fn responder(&self) -> Option<Arc<Responder>> {
            None
        }

        fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
            Some([purpose, b"|", bytes].concat())
        }

        fn open(&self, purpose: &[u8], sealed: Vec<u8>) -> Option<Vec<u8>> {
            let bytes = sealed.strip_prefix(purpose)?.strip_prefix(b"|")?;
            Some(bytes.to_vec())
        }
    }

    #[test]
    fn a_call_is_read_with_its_first_journal_and_with_later_ones() {
        let (tasks, bus) = (Arc::new(MemoryTasks::default()), MemoryBus::default());
        let leased = LeasedTasks::new(tasks, Arc::new(bus), NodeId::new(1));
        let restarts = Restarts::new(Arc::new(leased));
        restarts.start_with(Box::new(Plain));
        let new = NewTask {
            key: TaskKey::new("ada", "1-own"),
            ttl: None,
            poll_interval: None,
            payer: None,
            restart: None,
        };
        let record = TaskRecord::new(new, UNIX_EPOCH);
        let call = br#"{"v":1,"task":"own","owner":"ada","revision":"2026-07-28",
            "caller":{"is_anybody":false},"payer":0,"tool":"job"}"#;
        let call = restarts.seal(CALL, call).unwrap();
        let journal = serde_json::to_vec(&Journal::new()).unwrap();
        let read = |task: &str| {
            let journal = restarts.seal(&journal_of(task), &journal).unwrap();
            let restart = Restart::new(call.clone(), journal, 1);
            restarts.read(&record, &restart).is_some()
        };
        assert!(read("own"), "as it is when the task begins");
        assert!(read("1-own"), "as it is later");
        assert!(!read("2-own") && !read("other"), "of another task");
    }

    #[test]
    fn tasks_that_wait_for_others_hold_up_none_that_can_be_taken_over() {
        let mut adoptions = Adoptions::default();
        for number in 0..MAX_LEFT {
            let task = format!("unreadable {number}");
            assert!(adoptions.begin(&task), "{task}");
            assert!(adoptions.leave(&task), "{task}");
            // It is waited for once.
            assert!(!adoptions.begin(&task), "{task}");
        }
        assert!(adoptions.begin("one too many"));
        assert!(!adoptions.leave("one too many"));
        for number in 0..MAX_ADOPTING {
            assert!(adoptions.begin(&format!("readable {number}")));
        }
        assert!(!adoptions.begin("another"));
        adoptions.end("readable 0");
        assert!(adoptions.begin("another"));
    }
}
