//! The request table against a simple model.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use turnbuckle_protocol::Id;
use turnbuckle_session::requests::{Deadline, Progressed, RequestTable};

const LIMIT: usize = 6;

#[derive(Clone, Debug)]
enum Operation {
    Insert { timeout: Option<u64>, maximum: u64 },
    Complete(i64),
    Cancel(i64),
    Progress(i64, f64),
    Wait(u64),
    Expire,
    Drain,
}

fn operations() -> impl Strategy<Value = Operation> {
    // Few ids and short times, so that operations affect the same requests.
    let id = || 0_i64..12;
    prop_oneof![
        6 => (proptest::option::weighted(0.8, 0_u64..20), 0_u64..40)
            .prop_map(|(timeout, maximum)| Operation::Insert { timeout, maximum }),
        2 => id().prop_map(Operation::Complete),
        1 => id().prop_map(Operation::Cancel),
        4 => (id(), (0_u8..10).prop_map(f64::from)).prop_map(|(id, at)| Operation::Progress(id, at)),
        4 => (0_u64..8).prop_map(Operation::Wait),
        2 => Just(Operation::Expire),
        1 => Just(Operation::Drain),
    ]
}

/// A list that is searched linearly. Times are in seconds since the start.
#[derive(Default)]
struct Model {
    next: i64,
    waiting: Vec<Waiting>,
}

#[derive(Clone, Debug, PartialEq)]
struct Waiting {
    id: i64,
    timeout: Option<u64>,
    maximum: u64,
    sent: u64,
    seen: u64,
    progress: Option<f64>,
}

impl Waiting {
    fn due(&self) -> Option<u64> {
        let timeout = self.timeout?.min(self.maximum);
        Some((self.seen + timeout).min(self.sent + self.maximum))
    }
}

impl Model {
    fn remove(&mut self, id: i64) -> Option<i64> {
        let index = self.waiting.iter().position(|waiting| waiting.id == id)?;
        Some(self.waiting.remove(index).id)
    }

    fn insert(&mut self, timeout: Option<u64>, maximum: u64, now: u64) -> Option<i64> {
        if self.waiting.len() == LIMIT {
            return None;
        }
        self.next += 1;
        let (id, sent, seen) = (self.next, now, now);
        self.waiting.push(Waiting {
            id,
            timeout,
            maximum,
            sent,
            seen,
            progress: None,
        });
        Some(id)
    }

    fn progress(&mut self, id: i64, value: f64, now: u64) -> &'static str {
        match self.waiting.iter_mut().find(|waiting| waiting.id == id) {
            None => "unknown",
            Some(waiting) if waiting.progress.is_some_and(|before| value <= before) => "stale",
            Some(waiting) => {
                (waiting.progress, waiting.seen) = (Some(value), now);
                "news"
            }
        }
    }

    fn expire(&mut self, now: u64) -> Vec<i64> {
        let mut due: Vec<_> = self
            .waiting
            .iter()
            .filter_map(|waiting| waiting.due().map(|at| (at, waiting.id)))
            .filter(|(at, _)| *at <= now)
            .collect();
        due.sort_unstable();
        due.into_iter()
            .filter_map(|(_, id)| self.remove(id))
            .collect()
    }

    fn next_deadline(&self) -> Option<u64> {
        self.waiting.iter().filter_map(Waiting::due).min()
    }
}

fn deadline(timeout: Option<u64>, maximum: u64) -> Deadline {
    timeout.map_or(Deadline::never(), |seconds| {
        Deadline::after(Duration::from_secs(seconds)).with_maximum(Duration::from_secs(maximum))
    })
}

/// Applies one operation to both; the payload of a request is its id in the model.
fn step(
    table: &mut RequestTable<i64>,
    model: &mut Model,
    operation: &Operation,
    start: Instant,
    clock: &mut u64,
) -> Result<(), TestCaseError> {
    let now = start + Duration::from_secs(*clock);
    let is_news = |progressed| match progressed {
        Progressed::News(_) => "news",
        Progressed::Stale => "stale",
        Progressed::Unknown => "unknown",
    };
    match *operation {
        Operation::Insert { timeout, maximum } => {
            let expected = model.insert(timeout, maximum, *clock);
            let payload = expected.unwrap_or(-1);
            let id = table.insert(payload, deadline(timeout, maximum), now).ok();
            prop_assert_eq!(id, expected.map(Id::Int));
        }
        Operation::Complete(id) => {
            prop_assert_eq!(table.complete(&Id::Int(id).as_ref()), model.remove(id));
        }
        Operation::Cancel(id) => {
            prop_assert_eq!(table.cancel(&Id::Int(id).as_ref()), model.remove(id));
        }
        Operation::Progress(id, value) => {
            let actual = is_news(table.progress(&Id::Int(id).as_ref(), value, now));
            prop_assert_eq!(actual, model.progress(id, value, *clock));
        }
        Operation::Wait(seconds) => *clock += seconds,
        Operation::Expire => {
            let actual: Vec<_> = table.expire(now).map(|expired| expired.payload).collect();
            prop_assert_eq!(actual, model.expire(*clock));
        }
        Operation::Drain => {
            let actual: Vec<_> = table.drain().map(|(_, payload)| payload).collect();
            let expected: Vec<_> = model.waiting.drain(..).map(|waiting| waiting.id).collect();
            prop_assert_eq!(actual, expected);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn the_table_does_what_the_model_does(
        operations in proptest::collection::vec(operations(), 0..80),
    ) {
        let start = Instant::now();
        let mut clock = 0;
        let mut table = RequestTable::new().with_limit(LIMIT);
        let mut model = Model::default();
        for operation in &operations {
            step(&mut table, &mut model, operation, start, &mut clock)?;
            let due = model.next_deadline().map(|at| start + Duration::from_secs(at));
            prop_assert_eq!(table.next_deadline(), due);
            prop_assert_eq!(table.len(), model.waiting.len());
        }
    }
}
