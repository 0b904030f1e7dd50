//! What handlers did, by the number of the call.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use turnbuckle_testing::sim::{Random, SimulationRun};

use std::sync::Mutex;

/// What handlers did. Clones share the data.
#[derive(Clone)]
pub(crate) struct Ledger(Arc<Shared>);

struct Shared {
    run: SimulationRun,
    entries: Mutex<Entries>,
}

struct Entries {
    random: Random,
    /// The members that made the calls, in order.
    callers: Vec<u32>,
    begun: BTreeMap<u64, u64>,
    running: BTreeMap<u64, u64>,
    given_up: BTreeSet<u64>,
}

/// A running handler. Dropping it without `finish` records that the call was given up.
pub(crate) struct Running {
    ledger: Ledger,
    call: u64,
    is_finished: bool,
}

impl Ledger {
    pub(crate) fn new(run: &SimulationRun) -> Self {
        Self(Arc::new(Shared {
            run: run.clone(),
            entries: Mutex::new(Entries {
                random: run.random(),
                callers: Vec::new(),
                begun: BTreeMap::new(),
                running: BTreeMap::new(),
                given_up: BTreeSet::new(),
            }),
        }))
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, Entries> {
        self.0.entries.lock().expect("no handler panics here")
    }

    /// The number of a new call of this member.
    pub(crate) fn next_call(&self, member: u32) -> u64 {
        let mut entries = self.entries();
        entries.callers.push(member);
        entries.callers.len() as u64
    }

    /// Whether a question is for this member. A question begins with the number of its call.
    pub(crate) fn is_for(&self, question: &str, member: u32) -> bool {
        let number = question
            .split(' ')
            .next()
            .and_then(|text| text.parse().ok());
        let place = number.and_then(|number: usize| number.checked_sub(1));
        let caller = place.and_then(|place| self.entries().callers.get(place).copied());
        caller == Some(member)
    }

    /// Records that a handler begins.
    pub(crate) fn begin(&self, call: u64) -> Running {
        self.0.run.note(format_args!("handler {call} begins"));
        let mut entries = self.entries();
        *entries.begun.entry(call).or_default() += 1;
        *entries.running.entry(call).or_default() += 1;
        Running {
            ledger: self.clone(),
            call,
            is_finished: false,
        }
    }

    /// Waits for a random time, as a handler waits for a database.
    pub(crate) async fn work(&self) {
        let time = self.entries().random.time(Duration::from_millis(60));
        tokio::time::sleep(time).await;
    }

    pub(crate) fn times_begun(&self, call: u64) -> u64 {
        self.entries().begun.get(&call).copied().unwrap_or(0)
    }

    pub(crate) fn is_given_up(&self, call: u64) -> bool {
        self.entries().given_up.contains(&call)
    }

    /// Waits until no handler runs. A handler that still runs after this time was lost.
    pub(crate) async fn all_ended(&self, within: Duration) {
        let last = tokio::time::Instant::now() + within;
        loop {
            let running: Vec<u64> = self.entries().running.keys().copied().collect();
            if running.is_empty() {
                return;
            }
            if tokio::time::Instant::now() > last {
                self.0
                    .run
                    .problem(format_args!("handlers of calls {running:?} never end"));
                return;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

impl Running {
    pub(crate) fn finish(mut self) {
        self.is_finished = true;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let call = self.call;
        // When a crash ends handlers, they are dropped in any order.
        if self.is_finished {
            let run = &self.ledger.0.run;
            run.note(format_args!("handler {call} ends"));
        }
        let mut entries = self.ledger.entries();
        let is_last = entries.running.get_mut(&call).is_none_or(|count| {
            *count -= 1;
            *count == 0
        });
        if is_last {
            entries.running.remove(&call);
        }
        if !self.is_finished {
            entries.given_up.insert(call);
        }
    }
}
