//! `EventLog`: the trait of a log of events.

use std::time::Duration;

use crate::{BoxFuture, StoreError};

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    /// Its position in the stream; the first event has 1.
    pub number: u64,
    /// The event as the sending replica wrote it.
    pub bytes: Vec<u8>,
}

/// Stores the events of streams, so that another replica can replay them. `contract::events` tests
/// the guarantees of each method.
///
/// The replica that has a stream decides how many of its events are kept. A log keeps no more than
/// that, and forgets a stream some time after the last event.
pub trait EventLog: Send + Sync + 'static {
    /// Appends events to a stream, in the order of their numbers, drops the events before `from`,
    /// and keeps the rest for this long from now. An event that already exists is not replaced.
    fn append<'a>(
        &'a self,
        stream: &'a str,
        events: Vec<LoggedEvent>,
        from: u64,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns all kept events of a stream in order, or none if the stream is unknown.
    fn read<'a>(&'a self, stream: &'a str) -> BoxFuture<'a, Result<Vec<LoggedEvent>, StoreError>>;
}
