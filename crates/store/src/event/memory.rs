//! A log of events in the memory of one process.

use std::{
    collections::{BTreeMap, HashMap},
    future::ready,
    sync::Arc,
    time::Duration,
};

use turnbuckle_base::lock::Mutex;

use super::{EventLog, LoggedEvent};
use crate::{BoxFuture, StoreError};

/// Events for several servers in one process, as used in tests. Clones share the events, and no
/// stream is forgotten before the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct MemoryEvents(Arc<Mutex<HashMap<String, KeptEvents>>>);

/// The events of one stream by their numbers.
type KeptEvents = BTreeMap<u64, Vec<u8>>;

impl EventLog for MemoryEvents {
    fn append<'a>(
        &'a self,
        stream: &'a str,
        events: Vec<LoggedEvent>,
        from: u64,
        _keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let mut streams = self.0.lock();
        let kept = streams.entry(stream.to_owned()).or_default();
        for event in events {
            kept.entry(event.number).or_insert(event.bytes);
        }
        *kept = kept.split_off(&from);
        Box::pin(ready(Ok(())))
    }

    fn read<'a>(&'a self, stream: &'a str) -> BoxFuture<'a, Result<Vec<LoggedEvent>, StoreError>> {
        let streams = self.0.lock();
        let kept = streams.get(stream).into_iter().flatten();
        let events = kept.map(|(number, bytes)| LoggedEvent {
            number: *number,
            bytes: bytes.clone(),
        });
        Box::pin(ready(Ok(events.collect())))
    }
}
