//! Tests for logs of events.

use std::time::Duration;

use crate::event::{EventLog, LoggedEvent};

/// Longer than the test takes.
const KEEP: Duration = Duration::from_mins(10);

/// Tests that a log of events satisfies the contract of [`EventLog`]. `open` returns an empty log.
///
/// # Panics
/// If the contract is violated, because this is a test.
pub async fn events<L: EventLog>(open: impl AsyncFn() -> L) {
    let log = open().await;
    let append = async |stream, events: &[(u64, &[u8])], from| {
        let events = events.iter().map(|(number, bytes)| LoggedEvent {
            number: *number,
            bytes: bytes.to_vec(),
        });
        let appended = log.append(stream, events.collect(), from, KEEP).await;
        appended.expect("it appends");
    };
    let read = async |stream| {
        let events = log.read(stream).await.expect("it reads");
        let events = events.into_iter().map(|event| (event.number, event.bytes));
        events.collect::<Vec<_>>()
    };

    assert!(
        read("a").await.is_empty(),
        "an unknown stream has no events"
    );
    append("a", &[(1, b"one"), (2, b"")], 1).await;
    append("a", &[(4, &[0, 255, 10])], 1).await;
    let all = [(1, b"one".to_vec()), (2, Vec::new()), (4, vec![0, 255, 10])];
    assert_eq!(
        read("a").await,
        all,
        "events of any bytes are kept in order, also with gaps in their numbers"
    );
    assert!(read("b").await.is_empty(), "streams have separate events");

    append("a", &[(4, b"again"), (5, b"five")], 1).await;
    let events = read("a").await;
    assert_eq!(
        events.len(),
        4,
        "the same event appended twice is stored once"
    );
    assert_eq!(events[2], all[2], "an event appended again stays as it was");
    append("a", &[(6, b"six")], 5).await;
    let left = [(5, b"five".to_vec()), (6, b"six".to_vec())];
    assert_eq!(read("a").await, left, "events that are too old are removed");
}
