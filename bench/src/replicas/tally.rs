//! The results of the clients of a run.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Write as _,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use super::history::Trouble;

/// How many faults are written out; the others are only counted.
const SHOWN: u64 = 40;

/// What a client does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Open,
    Call,
    Ask,
    Cancel,
    Resume,
    Update,
    Task,
    End,
}

impl Kind {
    pub(super) const ALL: [Self; 8] = [
        Self::Open,
        Self::Call,
        Self::Ask,
        Self::Cancel,
        Self::Resume,
        Self::Update,
        Self::Task,
        Self::End,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Open => "open a session",
            Self::Call => "call",
            Self::Ask => "ask",
            Self::Cancel => "cancel",
            Self::Resume => "resume",
            Self::Update => "update",
            Self::Task => "task",
            Self::End => "end a session",
        }
    }
}

/// What must not happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Fault {
    Lost,
    Doubled,
    Hung,
    WrongCaller,
}

impl Fault {
    pub(super) const ALL: [Self; 4] = [Self::Lost, Self::Doubled, Self::Hung, Self::WrongCaller];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Doubled => "doubled",
            Self::Hung => "hung",
            Self::WrongCaller => "wrong caller",
        }
    }
}

/// The revisions of clients, from the oldest to the newest.
pub(super) const REVISIONS: [&str; 5] = [
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

/// Counts of one run.
pub(super) struct Tally {
    began: Instant,
    /// Successes, by kind and by the index of the revision.
    done: [[AtomicU64; 5]; 8],
    faults: [AtomicU64; 4],
    /// Trouble that events explain, by kind.
    explained: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    /// A log of everything that is not an answer, line by line.
    log: Option<Mutex<File>>,
}

impl Tally {
    /// Starts with zero counts. Everything that is not an answer is written to the log, if there is one.
    pub(super) fn new(log: Option<File>) -> Self {
        Self {
            began: Instant::now(),
            done: Default::default(),
            faults: Default::default(),
            explained: Mutex::default(),
            log: log.map(Mutex::new),
        }
    }

    /// Reports an event, on the terminal and in the log.
    pub(super) fn say(&self, what: &str) {
        println!("{} {what}", self.time());
        self.write(what);
    }

    fn write(&self, what: &str) {
        if let Some(log) = &self.log {
            let mut log = log.lock().expect("nothing panics with it");
            // If the log cannot be written, the run continues.
            let _ = writeln!(log, "{} {what}", self.time());
        }
    }

    pub(super) fn done(&self, kind: Kind, revision: usize) {
        self.done[kind as usize][revision].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count(&self, kind: Kind, revision: usize) -> u64 {
        self.done[kind as usize][revision].load(Ordering::Relaxed)
    }

    pub(super) fn fault(&self, fault: Fault, guest: &str, what: &str) {
        let before: u64 = Fault::ALL.iter().map(|fault| self.faults(*fault)).sum();
        self.faults[fault as usize].fetch_add(1, Ordering::Relaxed);
        let what = format!("{}: {guest}: {what}", fault.name());
        if before < SHOWN {
            self.say(&what);
        } else {
            self.write(&what);
        }
    }

    pub(super) fn faults(&self, fault: Fault) -> u64 {
        self.faults[fault as usize].load(Ordering::Relaxed)
    }

    pub(super) fn explained(&self, kind: Kind, trouble: &Trouble, guest: &str) {
        self.write(&format!("explained: {guest}: {}: {trouble}", kind.name()));
        let name = match trouble {
            Trouble::Broken => "connection broken",
            Trouble::Refused(_) => "refused, to try again",
            Trouble::Told => "told to call again",
            Trouble::Error(_) => "error for want of Redis",
            Trouble::Failed(_) | Trouble::NotTakenOver(_) => "task failed, with the reason",
            Trouble::Forgotten(_) => "task lost by a failover",
            Trouble::Missed => "update missed",
            Trouble::NotCancelled => "not cancelled",
            Trouble::NotEnded => "session not ended",
            Trouble::NoSession => "session lost",
            Trouble::Odd(_) | Trouble::Hung => "other",
        };
        let mut explained = self.explained.lock().expect("nothing panics with it");
        *explained.entry((kind.name(), name)).or_default() += 1;
    }

    pub(super) fn all_explained(&self) -> BTreeMap<(&'static str, &'static str), u64> {
        self.explained
            .lock()
            .expect("nothing panics with it")
            .clone()
    }

    /// Seconds since the start, as text for the log.
    fn time(&self) -> String {
        format!("{:7.2} s", self.began.elapsed().as_secs_f64())
    }
}
