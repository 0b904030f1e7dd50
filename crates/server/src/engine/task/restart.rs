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

/// 256 KiB: the largest call that is stored for other replicas. A task with larger arguments fails
/// if its replica ends.
const MAX_CALL_BYTES: usize = 256 * 1024;

/// The number of tasks that are being taken over at a time. Others are tried again later.
const MAX_ADOPTING: usize = 100;

/// The number of tasks that this replica cannot read, and that wait for another replica, at a time.
/// Others are tried again later.
const MAX_LEFT: usize = 1_000;

/// The purposes for which data is encrypted.
const CALL: &[u8] = b"task call";
const JOURNAL: &[u8] = b"task journal";

/// The purpose contains the task, because the journal of one task, with its answers, must not be
/// used for another task.
fn journal_of(task: &str) -> Vec<u8> {
    [JOURNAL, b" ", task.as_bytes()].concat()
}

/// Restarts calls, and encrypts the data that is stored for that.
pub(crate) trait CallStarter: Send + Sync {
    /// Starts a call that another replica ran before.
    fn start(
        &self,
        call: &StoredCall,
        journal: Journal,
        channel: Arc<TaskChannel>,
    ) -> Result<StartedCall<CallToolResult>, Failure>;

    /// Returns the responder, which writes results.
    fn responder(&self) -> Option<Arc<Responder>>;

    /// Encrypts bytes for a purpose; `None` if that is not possible.
    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Option<Vec<u8>>;

    /// Decrypts bytes that were encrypted for this purpose.
    fn open(&self, purpose: &[u8], sealed: Vec<u8>) -> Option<Vec<u8>>;
}

/// The tasks that replicas share, and the starter that restarts calls of other replicas here.
pub(crate) struct Restarts {
    pub(crate) leased: Arc<LeasedTasks>,
    starter: OnceLock<Box<dyn CallStarter>>,
    adopting: Mutex<Adoptions>,
}

/// The ids of tasks of other replicas that are being taken over, or left to others.
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

    /// Sets the starter of calls. It must be set before the first task.
    pub(crate) fn start_with(&self, starter: Box<dyn CallStarter>) {
        let _ = self.starter.set(starter);
    }

    pub(super) fn starter(&self) -> Option<&dyn CallStarter> {
        self.starter.get().map(AsRef::as_ref)
    }

    /// Encrypts a call that becomes a task, to store it; `None` if it is too large.
    pub(super) fn keep(&self, call: &StoredCall) -> Option<String> {
        let text = serde_json::to_vec(call).ok()?;
        if text.len() > MAX_CALL_BYTES {
            tracing::warn!(
                tool = call.tool,
                bytes = text.len(),
                "a call is too large to be continued by other replicas"
            );
            return None;
        }
        self.seal(CALL, &text)
    }

    /// Encrypts the journal of a running call, for its task.
    pub(super) fn journal<T>(&self, task: &str, run: &CallRun<T>) -> Option<String> {
        let journal = match run.asking() {
            Some(asking) => asking.journal(),
            None => serde_json::to_string(&Journal::new()).ok(),
        };
        self.seal(&journal_of(task), journal?.as_bytes())
    }

    /// Decrypts the call of a task and its journal, which another replica stored.
    pub(super) fn read(
        &self,
        record: &TaskRecord,
        restart: &Restart,
    ) -> Option<(StoredCall, Journal)> {
        let call = self.open(CALL, &restart.call)?;
        let task = &record.task.task_id;
        let call = StoredCall::read(&call, &record.owner, task)?;
        // The first journal was encrypted before the store extended the id of the task.
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

    /// Begins to take over a task. `None` if this has begun already, or if too many tasks are being
    /// taken over.
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
    /// Leaves the task to another replica, so that it no longer counts among those being taken
    /// over. Returns `false` if too many tasks wait for other replicas.
    pub(super) fn leave(&self) -> bool {
        self.restarts.adopting.lock().leave(&self.task)
    }
}

impl Drop for Adopting {
    fn drop(&mut self) {
        self.restarts.adopting.lock().end(&self.task);
    }
}

/// A numbered period in which only this replica runs a task. Then another replica may continue it.
pub(super) struct Turn {
    pub(super) restarts: Arc<Restarts>,
    pub(super) number: u32,
}

impl Turn {
    /// Makes a change of the task that is valid only in this turn.
    pub(super) fn change(&self, journal: JournalChange, change: Option<TaskChange>) -> TaskChange {
        TaskChange::Run(RunChange {
            turn: self.number,
            journal,
            change: change.map(Box::new),
        })
    }

    /// Whether this replica still has its turn. A replica of a version without turns may have
    /// removed them; then no other replica takes over the task.
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

    /// Puts the purpose before the bytes instead of encrypting them.
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
            // It waits only once.
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
