//! `EventLog`: the trait of a log of events.

use std::time::Duration;

use crate::{BoxFuture, StoreError};

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEvent {
    /// Its place in the stream; the first event has 1.
    pub number: u64,
    /// What the replica that sent it wrote.
    pub bytes: Vec<u8>,
}

/// Where replicas keep the events of streams, so that another replica can replay them. What each method
/// promises is tested by `contract::events`.
///
/// The replica that has a stream decides how much of it is kept. A log holds no more than it was told
/// to, and forgets a stream some time after the last event.
pub trait EventLog: Send + Sync + 'static {
    /// Appends events to a stream, in the order of their numbers, forgets those before `from`, and keeps
    /// the rest for so long from now. An event that is there already is kept as it is.
    fn append<'a>(
        &'a self,
        stream: &'a str,
        events: Vec<LoggedEvent>,
        from: u64,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// All that is kept of a stream, in order; nothing of one that is not known.
    fn read<'a>(&'a self, stream: &'a str) -> BoxFuture<'a, Result<Vec<LoggedEvent>, StoreError>>;
}
