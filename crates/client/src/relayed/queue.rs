//! The events of one relayed call that its owner has not read yet.

use std::{
    collections::VecDeque,
    task::{Context, Poll, Waker},
};

use turnbuckle_base::lock::Mutex;

use super::RelayEvent;

/// With this many unread events, new progress reports replace earlier ones, and, over HTTP, the call's
/// stream is not read any more.
const CROWDED: usize = 16;

/// The limit on unread notifications of one call. A pipe is read for all calls, so it cannot wait for
/// one of them: further notifications are dropped.
const MAX_WAITING: usize = 256;

/// The same limit in bytes: the memory that a slow reader of one call may use.
const MAX_WAITING_BYTES: usize = 4 * 1024 * 1024;

/// The events of one call.
#[derive(Debug, Default)]
pub(crate) struct RelayQueue(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    events: VecDeque<RelayEvent>,
    bytes: usize,
    waker: Option<Waker>,
}

impl RelayQueue {
    /// Adds an event. A notification is dropped if the queue is full. A question is never dropped,
    /// because open questions are limited elsewhere.
    pub(crate) fn push(&self, event: RelayEvent) {
        let (waker, _dropped) = {
            let mut waiting = self.0.lock();
            let dropped = waiting.add(event);
            (waiting.waker.take(), dropped)
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Polls for the next event.
    pub(crate) fn poll_next(&self, context: &Context<'_>) -> Poll<RelayEvent> {
        let mut waiting = self.0.lock();
        if let Some(event) = waiting.events.pop_front() {
            waiting.bytes -= event.bytes();
            if waiting.events.is_empty() {
                // Free the memory of the empty queue, because the next event may come hours later.
                waiting.events = VecDeque::new();
            }
            return Poll::Ready(event);
        }
        match &mut waiting.waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }

    /// Whether there are so many unread events that reading should pause.
    #[cfg(feature = "http")]
    pub(crate) fn is_crowded(&self) -> bool {
        self.0.lock().events.len() >= CROWDED
    }
}

impl Waiting {
    /// Adds an event, and returns the event that was dropped for it, if any.
    fn add(&mut self, event: RelayEvent) -> Option<RelayEvent> {
        if let RelayEvent::Ask(_) = event {
            self.enter(event);
            return None;
        }
        // progress: a report supersedes the one before it.
        if self.events.len() >= CROWDED
            && matches!(event, RelayEvent::Progress(_))
            && matches!(self.events.back(), Some(RelayEvent::Progress(_)))
        {
            let older = self.events.pop_back();
            self.bytes -= older.as_ref().map_or(0, RelayEvent::bytes);
            self.enter(event);
            return older;
        }
        let is_full = self.events.len() >= MAX_WAITING
            || (!self.events.is_empty() && self.bytes + event.bytes() > MAX_WAITING_BYTES);
        if is_full {
            return Some(event);
        }
        self.enter(event);
        None
    }

    fn enter(&mut self, event: RelayEvent) {
        self.bytes += event.bytes();
        self.events.push_back(event);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn progress(number: usize) -> RelayEvent {
        let text = format!("{{\"progress\":{number}}}");
        RelayEvent::Progress(RawValue::from_string(text).expect("JSON"))
    }

    fn log(bytes: usize) -> RelayEvent {
        let text = format!("\"{}\"", "x".repeat(bytes));
        let params = RawValue::from_string(text).expect("JSON");
        RelayEvent::Notification("notifications/message".into(), Some(params))
    }

    fn taken(queue: &RelayQueue) -> Vec<RelayEvent> {
        let context = Context::from_waker(Waker::noop());
        let mut all = Vec::new();
        while let Poll::Ready(event) = queue.poll_next(&context) {
            all.push(event);
        }
        all
    }

    #[test]
    fn reports_that_wait_are_replaced_by_newer_ones() {
        let queue = RelayQueue::default();
        for number in 0..1000 {
            queue.push(progress(number));
        }
        let all = taken(&queue);
        assert_eq!(all.len(), CROWDED);
        let Some(RelayEvent::Progress(last)) = all.last() else {
            panic!("a report is last")
        };
        assert_eq!(last.get(), r#"{"progress":999}"#);
    }

    #[test]
    fn notifications_wait_within_bounds() {
        let queue = RelayQueue::default();
        for _ in 0..2 * MAX_WAITING {
            queue.push(log(10));
        }
        assert_eq!(taken(&queue).len(), MAX_WAITING);
        for _ in 0..10 {
            queue.push(log(MAX_WAITING_BYTES / 4));
        }
        assert_eq!(taken(&queue).len(), 3);
        queue.push(log(2 * MAX_WAITING_BYTES));
        assert_eq!(taken(&queue).len(), 1, "one event passes whatever its size");
        assert_eq!(queue.0.lock().bytes, 0);
    }
}
