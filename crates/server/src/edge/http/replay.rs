//! The past events of a stream, for clients that resume it. Their number, bytes and age are
//! limited.

use std::collections::VecDeque;

use bytes::Bytes;
use tokio::time::Instant;
use turnbuckle_transport::http::sse;

use super::{event_id::StreamName, settings::HttpSettings};
use crate::{client::DETACH, quota::Share};

/// The events of one stream.
pub(super) struct Replay {
    kept: VecDeque<Kept>,
    bytes: usize,
    last: u64,
    /// The share of the quota that they take.
    share: Share,
    /// The part of the share for queued messages that are not events yet.
    reserved: usize,
}

struct Kept {
    number: u64,
    event: Bytes,
    at: Instant,
}

/// Whether the connection that carries the events stays open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterEvents {
    /// The connection stays open.
    Stay,
    /// The connection closes, and the client reconnects for the remaining events.
    Detach,
}

impl Replay {
    pub(super) fn new(share: Share) -> Self {
        Self {
            kept: VecDeque::new(),
            bytes: 0,
            last: 0,
            share,
            reserved: 0,
        }
    }

    /// The number of the newest event; 0 if there was no event.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// How many bytes are kept.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Reserves memory for a message that waits until a client comes back. Returns `false` if there
    /// is no memory for it.
    pub(super) fn reserve(&mut self, bytes: usize) -> bool {
        let has_room = self.share.add_spare(bytes).is_ok();
        if has_room {
            self.reserved += bytes;
        }
        has_room
    }

    /// Makes events from messages, keeps them, and appends those that are sent now.
    pub(super) fn record(
        &mut self,
        name: &StreamName,
        lines: &[u8],
        settings: &HttpSettings,
        events: &mut Vec<u8>,
    ) -> AfterEvents {
        let mut then = AfterEvents::Stay;
        self.share.give_back(std::mem::take(&mut self.reserved));
        let lines = lines.split(|byte| *byte == b'\n');
        for line in lines.filter(|line| !line.is_empty()) {
            if line == DETACH {
                then = AfterEvents::Detach;
                continue;
            }
            self.last += 1;
            let start = events.len();
            sse::Frame::of(line)
                .with_id(&name.event(self.last))
                .append_to(events);
            self.keep(Bytes::copy_from_slice(&events[start..]), settings);
            if then == AfterEvents::Detach {
                // The rest is for the next connection.
                events.truncate(start);
            }
        }
        then
    }

    /// Appends the events after this one.
    pub(super) fn after(&self, number: u64, settings: &HttpSettings, events: &mut Vec<u8>) {
        let missed = self.kept.iter().filter(|kept| kept.number > number);
        for kept in missed.filter(|kept| kept.at.elapsed() <= settings.replay_age) {
            events.extend_from_slice(&kept.event);
        }
    }

    /// The kept events after this one, with their numbers.
    pub(super) fn newer(&self, number: u64) -> impl Iterator<Item = (u64, &Bytes)> {
        let newer = self.kept.iter().filter(move |kept| kept.number > number);
        newer.map(|kept| (kept.number, &kept.event))
    }

    /// The number of the oldest event that is kept; 0 if no event is kept.
    pub(super) fn oldest(&self) -> u64 {
        self.kept.front().map_or(0, |oldest| oldest.number)
    }

    fn keep(&mut self, event: Bytes, settings: &HttpSettings) {
        let at = Instant::now();
        // If there is no memory, the oldest events are dropped, and then this one. Clients can do
        // without resuming a stream, but other callers cannot do without their sessions.
        while self.share.add_spare(event.len()).is_err() {
            if !self.forget_oldest() {
                return;
            }
        }
        self.bytes += event.len();
        self.kept.push_back(Kept {
            number: self.last,
            event,
            at,
        });
        // The newest event is kept, however large it is: most often it is the answer.
        while self.kept.len() > 1 && self.is_too_much(at, settings) {
            self.forget_oldest();
        }
    }

    /// Drops the oldest event. Returns `false` if there are no events.
    fn forget_oldest(&mut self) -> bool {
        let Some(oldest) = self.kept.pop_front() else {
            return false;
        };
        self.bytes -= oldest.event.len();
        self.share.give_back(oldest.event.len());
        true
    }

    fn is_too_much(&self, now: Instant, settings: &HttpSettings) -> bool {
        let oldest = self.kept.front().map_or(now, |oldest| oldest.at);
        self.kept.len() > settings.replay_events
            || self.bytes > settings.replay_bytes
            || now - oldest > settings.replay_age
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::quota::{CallerKey, Quota};

    fn empty() -> Replay {
        Replay::new(Quota::new(20_000, 20_000).share(CallerKey::digest("ada")))
    }

    fn after(replay: &Replay, number: u64, settings: &HttpSettings) -> String {
        let mut events = Vec::new();
        replay.after(number, settings, &mut events);
        String::from_utf8(events).unwrap()
    }

    fn settings(events: usize, bytes: usize) -> HttpSettings {
        HttpSettings {
            replay_events: events,
            replay_bytes: bytes,
            ..HttpSettings::default()
        }
    }

    #[test]
    fn what_came_after_an_event_is_kept_within_bounds() {
        let settings = settings(2, 1000);
        let mut replay = empty();
        let mut sent = Vec::new();
        assert_eq!(
            replay.record(&StreamName::Local(7), b"a\nb\n\nc\n", &settings, &mut sent),
            AfterEvents::Stay
        );
        assert_eq!(
            sent,
            b"id: 7-1\ndata: a\n\nid: 7-2\ndata: b\n\nid: 7-3\ndata: c\n\n"
        );
        assert_eq!(
            after(&replay, 0, &settings),
            "id: 7-2\ndata: b\n\nid: 7-3\ndata: c\n\n"
        );
        assert_eq!(after(&replay, 2, &settings), "id: 7-3\ndata: c\n\n");
        assert_eq!(after(&replay, 3, &settings), "");
        assert_eq!(after(&replay, u64::MAX, &settings), "");
    }

    #[test]
    fn bytes_are_bounded_but_the_newest_event_stays() {
        let settings = settings(100, 20);
        let mut replay = empty();
        let long = "x".repeat(50);
        replay.record(
            &StreamName::Local(1),
            format!("a\n{long}\n").as_bytes(),
            &settings,
            &mut Vec::new(),
        );
        assert_eq!(
            after(&replay, 0, &settings),
            format!("id: 1-2\ndata: {long}\n\n")
        );
        replay.record(&StreamName::Local(1), b"b\n", &settings, &mut Vec::new());
        assert_eq!(after(&replay, 0, &settings), "id: 1-3\ndata: b\n\n");
        assert_eq!(replay.bytes(), "id: 1-3\ndata: b\n\n".len());
    }

    #[test]
    fn where_there_is_no_memory_the_past_is_forgotten() {
        let (ada, quota) = (CallerKey::digest("ada"), Quota::new(200, 100));
        let settings = HttpSettings::default();
        let (mut one, mut two) = (Replay::new(quota.share(ada)), Replay::new(quota.share(ada)));
        one.record(
            &StreamName::Local(1),
            &[b'x'; 30],
            &settings,
            &mut Vec::new(),
        );
        assert_eq!(one.bytes(), 46);
        // Half of a caller's quota is for such events.
        two.record(&StreamName::Local(2), b"a\n", &settings, &mut Vec::new());
        assert_eq!(two.bytes(), 0);
        one.record(&StreamName::Local(1), b"b\n", &settings, &mut Vec::new());
        assert_eq!(after(&one, 0, &settings), "id: 1-2\ndata: b\n\n");
        two.record(&StreamName::Local(2), b"c\n", &settings, &mut Vec::new());
        assert_eq!(after(&two, 0, &settings), "id: 2-2\ndata: c\n\n");
        drop((one, two));
        assert!(quota.has_room(ada, 100).is_ok());
    }

    #[test]
    fn what_is_too_old_is_not_replayed() {
        let settings = HttpSettings {
            replay_age: Duration::ZERO,
            ..HttpSettings::default()
        };
        let mut replay = empty();
        replay.record(&StreamName::Local(1), b"a\n", &settings, &mut Vec::new());
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(after(&replay, 0, &settings), "");
    }

    #[test]
    fn what_follows_a_detaching_goes_to_the_next_connection() {
        let settings = HttpSettings::default();
        let mut replay = empty();
        let mut sent = Vec::new();
        let then = replay.record(&StreamName::Local(1), b"a\n:\nb\n", &settings, &mut sent);
        assert_eq!(then, AfterEvents::Detach);
        assert_eq!(sent, b"id: 1-1\ndata: a\n\n");
        assert_eq!(after(&replay, 1, &settings), "id: 1-2\ndata: b\n\n");
    }
}
