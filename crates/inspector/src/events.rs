//! Events in order, for all open pages.
//!
//! Events are kept for a while, so that a page that lost its stream can resume it. A page that is too
//! slow is told how many events it missed, and requests the full state again.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame};
use serde::Serialize;
use tokio::time::{Interval, MissedTickBehavior, interval};
use turnbuckle::transport::http::sse;
use turnbuckle_base::lock::Mutex;

/// How many events are kept: minutes of a busy server.
const MAX_EVENTS: usize = 16_384;

/// How many bytes of events are kept: the results of exchanges are part of their events.
const MAX_EVENT_BYTES: usize = 64 * 1024 * 1024;

/// How many bytes are written at once, so that many small events cost one write.
const MAX_FRAME_BYTES: usize = 256 * 1024;

/// The interval of keep-alives: shorter than any idle timeout on one machine.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The log of events.
#[derive(Default)]
pub(super) struct EventLog(Mutex<KeptEvents>);

#[derive(Default)]
struct KeptEvents {
    /// The number of the newest event.
    last: u64,
    bytes: usize,
    events: VecDeque<Event>,
    waiting: Vec<Waker>,
    is_closed: bool,
}

#[derive(Clone)]
struct Event {
    seq: u64,
    name: &'static str,
    data: Arc<str>,
}

/// The stream of one page.
pub(super) struct EventStream {
    log: Arc<EventLog>,
    after: u64,
    alive: Interval,
}

impl EventLog {
    /// Sends an event to all pages.
    pub(super) fn publish(&self, name: &'static str, data: &impl Serialize) {
        let Ok(data) = serde_json::to_string(data) else {
            return;
        };
        let mut kept = self.0.lock();
        kept.last += 1;
        kept.bytes += data.len();
        let event = Event {
            seq: kept.last,
            name,
            data: data.into(),
        };
        kept.events.push_back(event);
        while kept.events.len() > MAX_EVENTS
            || (kept.bytes > MAX_EVENT_BYTES && kept.events.len() > 1)
        {
            let oldest = kept.events.pop_front();
            kept.bytes -= oldest.map_or(0, |oldest| oldest.data.len());
        }
        let waiting = std::mem::take(&mut kept.waiting);
        drop(kept);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The number of the newest event.
    pub(super) fn last(&self) -> u64 {
        self.0.lock().last
    }

    /// Ends every stream.
    pub(super) fn close(&self) {
        let mut kept = self.0.lock();
        kept.is_closed = true;
        let waiting = std::mem::take(&mut kept.waiting);
        drop(kept);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The events after this one, or from now on.
    pub(super) fn follow(self: &Arc<Self>, after: Option<u64>) -> EventStream {
        let last = self.last();
        let mut alive = interval(KEEP_ALIVE);
        alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        EventStream {
            log: self.clone(),
            // A number from another launch has no meaning here.
            after: after.filter(|after| *after <= last).unwrap_or(last),
            alive,
        }
    }

    /// Writes the events after this one; returns the number of the last that was written.
    fn write_after(&self, after: u64, out: &mut BytesMut, context: &Context<'_>) -> Option<u64> {
        let mut kept = self.0.lock();
        if kept.is_closed {
            return None;
        }
        let mut after = after;
        let oldest = kept.events.front().map_or(after + 1, |event| event.seq);
        if oldest > after + 1 {
            let missed = format!("{{\"count\":{}}}", oldest - after - 1);
            let frame = sse::Frame::of(missed.as_bytes()).with_event("missed");
            frame.append_to(out);
            after = oldest - 1;
        }
        let skipped = usize::try_from(after + 1 - oldest).unwrap_or(usize::MAX);
        for event in kept.events.iter().skip(skipped) {
            if out.len() > MAX_FRAME_BYTES {
                break;
            }
            sse::Frame::of(event.data.as_bytes())
                .with_event(event.name)
                .with_id(&event.seq.to_string())
                .append_to(out);
            after = event.seq;
        }
        if out.is_empty()
            && !kept
                .waiting
                .iter()
                .any(|waker| waker.will_wake(context.waker()))
        {
            kept.waiting.push(context.waker().clone());
        }
        Some(after)
    }
}

impl Body for EventStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        let mut out = BytesMut::new();
        match this.log.write_after(this.after, &mut out, context) {
            None => return Poll::Ready(None),
            Some(after) => this.after = after,
        }
        if out.is_empty() {
            if this.alive.poll_tick(context).is_pending() {
                return Poll::Pending;
            }
            out.extend_from_slice(sse::KEEP_ALIVE);
        }
        Poll::Ready(Some(Ok(Frame::data(out.freeze()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(log: &EventLog, after: u64) -> (String, Option<u64>) {
        let mut out = BytesMut::new();
        let context = Context::from_waker(Waker::noop());
        let last = log.write_after(after, &mut out, &context);
        (String::from_utf8(out.to_vec()).unwrap(), last)
    }

    #[test]
    fn a_reader_goes_on_where_it_was() {
        let log = EventLog::default();
        log.publish("log", &1);
        log.publish("log", &2);
        let (text, last) = written(&log, 1);
        assert_eq!(text, "event: log\nid: 2\ndata: 2\n\n");
        assert_eq!(last, Some(2));
        assert_eq!(written(&log, 2), (String::new(), Some(2)));
    }

    #[test]
    fn a_slow_reader_is_told_what_it_missed() {
        let log = EventLog::default();
        for number in 0..MAX_EVENTS + 3 {
            log.publish("log", &number);
        }
        let (text, _) = written(&log, 0);
        assert!(
            text.starts_with("event: missed\ndata: {\"count\":3}\n\nevent: log\nid: 4\n"),
            "{}",
            &text[..80]
        );
    }

    #[test]
    fn memory_is_bounded_by_bytes_too() {
        let log = EventLog::default();
        let big = "x".repeat(MAX_EVENT_BYTES / 4);
        for _ in 0..6 {
            log.publish("exchange", &big);
        }
        let kept = log.0.lock();
        assert!(kept.bytes <= MAX_EVENT_BYTES && kept.events.len() == 3);
    }

    #[test]
    fn a_closed_log_ends_its_streams() {
        let log = EventLog::default();
        log.close();
        assert_eq!(written(&log, 0).1, None);
    }
}
