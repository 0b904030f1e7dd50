//! `TaskRecord`: a stored task.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use turnbuckle_protocol::{DetailedTask, InputRequests, Task, TaskState};

use super::{
    Answers, Applied, JournalChange, Restart, RunChange, TaskChange, TaskEnd, millis, timestamp,
};

/// Identifies a task: its owner and its id. A task cannot be found by its id alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TaskKey {
    /// The owner.
    pub owner: String,
    /// The id.
    pub id: String,
}

impl TaskKey {
    /// Makes a key from an owner and an id.
    pub fn new(owner: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            owner: owner.into(),
            id: id.into(),
        }
    }
}

/// A task that is about to be created.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// The key of the task.
    pub key: TaskKey,
    /// How long it is kept after its creation; without limit if `None`.
    pub ttl: Option<Duration>,
    /// How long clients should wait between two polls.
    pub poll_interval: Option<Duration>,
    /// The payer whose quota the task counts against, if owners do not distinguish callers.
    /// Defaults to the owner if `None`.
    pub payer: Option<String>,
    /// The data with which another replica continues the task. If `None`, the task fails with its replica.
    pub restart: Option<Restart>,
}

/// A stored task.
///
/// The rules for state changes are in [`TaskRecord::apply`], not in the stores. A store keeps
/// records and makes sure that concurrent changes do not overwrite each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TaskRecord {
    /// The owner.
    pub owner: String,
    /// A number that grows with each change.
    pub version: u64,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: u64,
    /// Its status, as a type of the protocol.
    pub task: DetailedTask,
    /// Whether the result reports that the call failed.
    pub is_error: bool,
    /// The answers, for the machine that runs the work. They are removed when the task ends.
    pub answers: Answers,
    /// The data with which another replica continues the task. Removed when the task ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<Restart>,
}

impl TaskRecord {
    /// Makes the record of a task that is created now. Its version is 1.
    pub fn new(new: NewTask, now: SystemTime) -> Self {
        let created_ms = millis(now);
        let whole = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let mut task = Task::new(new.key.id, timestamp(created_ms));
        task.ttl_ms = new.ttl.map(whole);
        task.poll_interval_ms = new.poll_interval.map(whole);
        Self {
            owner: new.key.owner,
            version: 1,
            created_ms,
            task: DetailedTask::new(task, TaskState::Working),
            is_error: false,
            answers: Answers::new(),
            restart: new.restart,
        }
    }

    /// The key of the task.
    pub fn key(&self) -> TaskKey {
        TaskKey::new(&self.owner, &self.task.task_id)
    }

    /// Whether the task has ended and does not change any more.
    pub fn is_over(&self) -> bool {
        self.task.state.status().is_terminal()
    }

    /// The questions without an answer; `None` if there are no open questions.
    pub fn open(&self) -> Option<&InputRequests> {
        match &self.task.state {
            TaskState::InputRequired(open) => Some(open),
            _ => None,
        }
    }

    /// When it expires, in milliseconds since 1970; `None` if never.
    pub fn expires_ms(&self) -> Option<u64> {
        Some(self.created_ms.saturating_add(self.task.ttl_ms?))
    }

    /// Applies a change if the rules allow it.
    pub fn apply(&mut self, change: TaskChange, now: SystemTime) -> Applied {
        // tasks: a terminal status MUST NOT change.
        if self.is_over() {
            return Applied::Over;
        }
        match self.alter(change) {
            Applied::Changed => {}
            applied => return applied,
        }
        self.version += 1;
        self.task.last_updated_at = timestamp(millis(now).max(self.created_ms));
        Applied::Changed
    }

    fn alter(&mut self, change: TaskChange) -> Applied {
        let is_changed = match change {
            TaskChange::Say(message) => self.say(message),
            TaskChange::Ask(open) => self.ask(open),
            TaskChange::Answer(answers) => self.answer(answers),
            TaskChange::End(end) => {
                self.end(end);
                true
            }
            TaskChange::Run(run) => return self.run(run),
            TaskChange::HandOver { turn } => match self.turn(turn) {
                Some(restart) => restart.node.take().is_some(),
                None => return Applied::Over,
            },
            TaskChange::TakeOver { turn, node } => match self.turn(turn) {
                Some(restart) => {
                    restart.take_over(node);
                    true
                }
                None => return Applied::Over,
            },
        };
        if is_changed {
            Applied::Changed
        } else {
            Applied::Unchanged
        }
    }

    /// The restart data, if it is this turn.
    fn turn(&mut self, turn: u32) -> Option<&mut Restart> {
        self.restart.as_mut().filter(|restart| restart.turn == turn)
    }

    fn run(&mut self, run: RunChange) -> Applied {
        // A replica that does not support restarts may have left it out; then no replica takes the
        // task over.
        if self.restart.is_some() && self.turn(run.turn).is_none() {
            return Applied::Over;
        }
        let is_new = match (run.journal, &mut self.restart) {
            (JournalChange::Same, _) | (_, None) => false,
            (JournalChange::Now(journal), Some(restart)) => {
                let is_new = restart.journal != journal;
                restart.journal = journal;
                is_new
            }
            (JournalChange::GiveUp, Some(restart)) => {
                let is_new = !restart.is_given_up;
                restart.give_up();
                is_new
            }
        };
        let applied = run.change.map(|change| self.alter(*change));
        match applied {
            None | Some(Applied::Unchanged) if is_new => Applied::Changed,
            None => Applied::Unchanged,
            Some(applied) => applied,
        }
    }

    fn say(&mut self, message: String) -> bool {
        let is_new = self.task.status_message.as_deref() != Some(&*message);
        self.task.status_message = Some(message);
        is_new
    }

    fn ask(&mut self, mut open: InputRequests) -> bool {
        open.retain(|key, _| !self.answers.contains_key(key));
        let next = if open.is_empty() {
            TaskState::Working
        } else {
            TaskState::InputRequired(open)
        };
        let is_new = next != self.task.state;
        self.task.state = next;
        is_new
    }

    fn answer(&mut self, answers: Answers) -> bool {
        let TaskState::InputRequired(open) = &mut self.task.state else {
            return false;
        };
        let mut is_changed = false;
        for (key, answer) in answers {
            if open.shift_remove(&key).is_some() {
                self.answers.insert(key, answer);
                is_changed = true;
            }
        }
        if open.is_empty() {
            self.task.state = TaskState::Working;
        }
        is_changed
    }

    fn end(&mut self, end: TaskEnd) {
        self.answers.clear();
        self.restart = None;
        let (state, message) = match end {
            TaskEnd::Completed {
                result,
                is_error,
                message,
            } => {
                self.is_error = is_error;
                (TaskState::Completed(result), message)
            }
            TaskEnd::Failed(error) => {
                let message = error.message.clone();
                (TaskState::Failed(error), Some(message))
            }
            TaskEnd::Cancelled { reason } => (TaskState::Cancelled, reason),
        };
        self.task.state = state;
        // The last status message was about work that is over.
        self.task.status_message = message;
    }

    /// An estimate of the memory that the record needs, in bytes.
    pub fn bytes(&self) -> usize {
        /// The memory of a record without its texts, in bytes: the struct, its entries in the
        /// tables, and what wakes waiting callers.
        const FRAME: usize = 1024;
        let state = match &self.task.state {
            TaskState::Completed(result) => result.get().len(),
            TaskState::Failed(error) => {
                error.message.len() + error.data.as_ref().map_or(0, |data| data.to_string().len())
            }
            TaskState::InputRequired(open) => {
                serde_json::to_string(open).map_or(0, |text| text.len())
            }
            _ => 0,
        };
        let answers = self.answers.iter();
        let answers: usize = answers.map(|(key, raw)| key.len() + raw.get().len()).sum();
        let message = self.task.status_message.as_ref().map_or(0, String::len);
        let restart = self.restart.as_ref().map_or(0, Restart::bytes);
        FRAME + self.owner.len() + self.task.task_id.len() + message + state + answers + restart
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use serde_json::value::to_raw_value;
    use turnbuckle_protocol::{InputRequest, RequestParams, TaskStatus};

    use super::*;
    use crate::bus::NodeId;

    fn record() -> TaskRecord {
        let new = NewTask {
            key: TaskKey::new("ada", "t1"),
            ttl: Some(Duration::from_mins(1)),
            poll_interval: None,
            payer: None,
            restart: None,
        };
        TaskRecord::new(new, at(1))
    }

    fn at(second: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(second)
    }

    fn questions(keys: &[&str]) -> InputRequests {
        keys.iter()
            .map(|key| {
                let roots = InputRequest::ListRoots(RequestParams::default());
                ((*key).to_owned(), roots)
            })
            .collect()
    }

    fn answers(keys: &[&str]) -> Answers {
        keys.iter()
            .map(|key| ((*key).to_owned(), to_raw_value(&1).unwrap()))
            .collect()
    }

    #[test]
    fn an_answered_question_is_not_asked_again() {
        let mut record = record();
        record.apply(TaskChange::Ask(questions(&["a", "b"])), at(2));
        record.apply(TaskChange::Answer(answers(&["a", "nobody asked"])), at(3));
        assert_eq!(record.open().unwrap().keys().collect::<Vec<_>>(), ["b"]);
        assert_eq!(record.answers.keys().collect::<Vec<_>>(), ["a"]);
        // The runner has not seen the answer yet and adds a third question.
        record.apply(TaskChange::Ask(questions(&["a", "b", "c"])), at(4));
        assert_eq!(
            record.open().unwrap().keys().collect::<Vec<_>>(),
            ["b", "c"]
        );
        record.apply(TaskChange::Answer(answers(&["b", "c"])), at(5));
        assert_eq!(record.task.state.status(), TaskStatus::Working);
        assert_eq!(record.version, 5);
    }

    // rule: D2
    #[test]
    fn what_is_over_stays_over() {
        let mut record = record();
        let end = TaskEnd::Cancelled { reason: None };
        assert_eq!(
            record.apply(TaskChange::End(end.clone()), at(2)),
            Applied::Changed
        );
        for change in [
            TaskChange::Say("still here".into()),
            TaskChange::Ask(questions(&["a"])),
            TaskChange::Answer(answers(&["a"])),
            TaskChange::End(end),
        ] {
            assert_eq!(record.apply(change, at(3)), Applied::Over);
        }
        assert_eq!(record.task.last_updated_at, "1970-01-01T00:00:02.000Z");
        assert_eq!(record.version, 2);
    }

    /// A record from a process of version 0.1.0. Replicas of two versions run side by side while a
    /// server is upgraded. Do not regenerate it: add another one when the format changes.
    const VERSION_0_1: &str = r#"{"owner":"local","version":1,"created_ms":1794932929906,"task":{"taskId":"218dee93241df603-fMNKL0SV5wzBv9cloOCNiA","status":"working","createdAt":"2026-11-17T16:28:49.906Z","lastUpdatedAt":"2026-11-17T16:28:49.906Z","ttlMs":60000,"pollIntervalMs":1000},"is_error":false,"answers":{}}"#;

    #[test]
    fn records_of_version_0_1_are_read_and_written_as_it_does() {
        let record: TaskRecord = serde_json::from_str(VERSION_0_1).unwrap();
        assert_eq!(record.task.state.status(), TaskStatus::Working);
        assert!(record.restart.is_none());
        assert_eq!(serde_json::to_string(&record).unwrap(), VERSION_0_1);
        // Members added by a newer version are ignored.
        let newer = VERSION_0_1.replace(r#""answers":{}"#, r#""answers":{},"mood":"good""#);
        assert!(serde_json::from_str::<TaskRecord>(&newer).is_ok());
    }

    #[test]
    fn a_replica_writes_in_its_own_turn_alone() {
        let (one, other) = (NodeId::new(1), NodeId::new(2));
        let mut record = record();
        let restart = Restart::new("call".into(), "nothing".into(), 1);
        record.restart = Some(Restart {
            node: Some(one),
            ..restart
        });
        let run = |turn, journal, change: Option<TaskChange>| {
            TaskChange::Run(RunChange {
                turn,
                journal,
                change: change.map(Box::new),
            })
        };
        let learns = |turn, what: &str| run(turn, JournalChange::Now(what.into()), None);
        assert_eq!(record.apply(learns(0, "a memo"), at(2)), Applied::Changed);
        assert_eq!(record.apply(learns(0, "a memo"), at(2)), Applied::Unchanged);
        let taken = |turn, node| TaskChange::TakeOver { turn, node };
        assert_eq!(record.apply(taken(0, other), at(3)), Applied::Changed);
        assert_eq!(record.apply(taken(0, one), at(3)), Applied::Over);
        for late in [
            learns(0, "late"),
            TaskChange::HandOver { turn: 0 },
            run(
                0,
                JournalChange::Same,
                Some(TaskChange::End(TaskEnd::Cancelled { reason: None })),
            ),
        ] {
            assert_eq!(record.apply(late, at(4)), Applied::Over);
        }
        let restart = record.restart.clone().unwrap();
        assert_eq!(
            (restart.node, restart.turn, &*restart.journal),
            (Some(other), 1, "a memo")
        );
        assert!(!restart.may_be_taken_over(), "that was the last time");
        // A regular handover does not count as a takeover.
        let handed = TaskChange::HandOver { turn: 1 };
        assert_eq!(record.apply(handed.clone(), at(5)), Applied::Changed);
        assert_eq!(record.apply(handed, at(5)), Applied::Unchanged);
        assert!(record.restart.as_ref().unwrap().may_be_taken_over());
        assert_eq!(record.apply(taken(1, one), at(6)), Applied::Changed);
        assert_eq!(record.task.state.status(), TaskStatus::Working);
        let says = run(2, JournalChange::GiveUp, Some(TaskChange::Say("x".into())));
        assert_eq!(record.apply(says, at(7)), Applied::Changed);
        let restart = record.restart.as_ref().unwrap();
        assert!(!restart.may_be_taken_over(), "no replica can go on with it");
        assert_eq!(restart.node, Some(one), "and who runs it is known");
    }

    #[test]
    fn a_change_that_changes_nothing_is_none() {
        let mut record = record();
        record.apply(TaskChange::Say("half".into()), at(2));
        for change in [
            TaskChange::Say("half".into()),
            TaskChange::Ask(InputRequests::new()),
            TaskChange::Answer(answers(&["a"])),
        ] {
            assert_eq!(record.apply(change, at(3)), Applied::Unchanged);
        }
        assert_eq!(record.version, 2);
    }
}
