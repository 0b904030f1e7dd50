//! The current state of a connection, which decides which timeout applies.
//!
//! The wire, the requests and the deadline all look at it. Only counters: on HTTP/2 requests run in
//! tasks of their own.

use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

/// An event on a connection.
#[derive(Debug)]
pub(super) struct Pulse {
    heads: Heads,
    /// Requests that have begun and are not answered to the end.
    running: AtomicUsize,
    /// Requests that have begun, ever.
    begun: AtomicUsize,
    /// Whether a part of a head has come and not the whole.
    has_part_of_head: AtomicBool,
    /// Running requests that have a part of their answer on its way and are not asked for more.
    unasked: AtomicUsize,
    /// Parts of answers, ever.
    parts: AtomicUsize,
    /// Writes that went through, ever.
    writes: AtomicUsize,
    is_write_blocked: AtomicBool,
    /// Wakes the connection, to look at its phase.
    connection: OnceLock<Waker>,
}

/// Whether bytes without a running request are those of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heads {
    /// As on HTTP/1.1.
    Bare,
    /// On HTTP/2 they may be anything; its own pings find a peer that hangs in the middle of one.
    Framed,
}

/// What is waited for. The numbers tell one wait from the next of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// For ourselves, or for the body of a request, which is the service's business.
    Busy,
    /// For the rest of a head.
    Head(usize),
    /// For a request to begin.
    Idle(usize),
    /// For the peer to read.
    Stalled(usize),
    /// For the peer to read any of the answers on HTTP/2, which it can leave unread one by one
    /// while it reads the connection.
    Unread(usize),
    /// For the peer to take note that the connection ends.
    Farewell,
}

impl Pulse {
    /// Of a connection whose first bytes have come.
    pub(super) fn new(heads: Heads) -> Self {
        Self {
            heads,
            running: AtomicUsize::new(0),
            begun: AtomicUsize::new(0),
            has_part_of_head: AtomicBool::new(heads == Heads::Bare),
            unasked: AtomicUsize::new(0),
            parts: AtomicUsize::new(0),
            writes: AtomicUsize::new(0),
            is_write_blocked: AtomicBool::new(false),
            connection: OnceLock::new(),
        }
    }

    /// Says whom to wake when another task has changed the phase. Once is enough: a connection
    /// does not move to another task.
    pub(super) fn wake(&self, connection: &Waker) {
        self.connection.get_or_init(|| connection.clone());
    }

    fn changed(&self) {
        if let (Heads::Framed, Some(connection)) = (self.heads, self.connection.get()) {
            connection.wake_by_ref();
        }
    }

    pub(super) fn phase(&self) -> WaitsFor {
        let running = self.running.load(Relaxed);
        if self.is_write_blocked.load(Relaxed) {
            WaitsFor::Stalled(self.writes.load(Relaxed))
        } else if running > 0 && running == self.unasked.load(Relaxed) {
            WaitsFor::Unread(self.parts.load(Relaxed))
        } else if running > 0 {
            WaitsFor::Busy
        } else if self.has_part_of_head.load(Relaxed) {
            WaitsFor::Head(self.begun.load(Relaxed))
        } else {
            WaitsFor::Idle(self.begun.load(Relaxed))
        }
    }

    /// Bytes have come.
    pub(super) fn read(&self) {
        if self.heads == Heads::Bare && self.running.load(Relaxed) == 0 {
            self.has_part_of_head.store(true, Relaxed);
        }
    }

    /// Bytes have gone.
    pub(super) fn wrote(&self) {
        // Only the connection's own task writes, so load and store lose nothing.
        self.writes
            .store(self.writes.load(Relaxed).wrapping_add(1), Relaxed);
        self.is_write_blocked.store(false, Relaxed);
    }

    /// All bytes have gone.
    pub(super) fn flushed(&self) {
        if self.is_write_blocked.load(Relaxed) {
            self.wrote();
        }
    }

    /// The peer takes no more bytes.
    pub(super) fn write_blocked(&self) {
        self.is_write_blocked.store(true, Relaxed);
    }

    /// A head is whole, and its request runs until what is returned is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Running {
        self.has_part_of_head.store(false, Relaxed);
        self.begun.fetch_add(1, Relaxed);
        self.running.fetch_add(1, Relaxed);
        Running {
            pulse: Arc::clone(self),
            is_unasked: false,
        }
    }
}

/// A request that is not answered to the end.
#[derive(Debug)]
pub(super) struct Running {
    pulse: Arc<Pulse>,
    is_unasked: bool,
}

impl Running {
    /// More of the answer is asked for.
    pub(super) fn asked(&mut self) {
        if std::mem::take(&mut self.is_unasked) {
            self.pulse.unasked.fetch_sub(1, Relaxed);
        }
    }

    /// A part of the answer is on its way. HTTP/1.1 has one answer at a time and sends it as far
    /// as the connection takes it, so there the writes tell as much.
    pub(super) fn answered(&mut self) {
        if self.pulse.heads == Heads::Framed {
            self.is_unasked = true;
            self.pulse.parts.fetch_add(1, Relaxed);
            let unasked = self.pulse.unasked.fetch_add(1, SeqCst) + 1;
            if unasked == self.pulse.running.load(SeqCst) {
                self.pulse.changed();
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.asked();
        // No request is left, or only such that are not asked for more. If another one is answered at
        // the same time, each changes its counter before it looks at that of the other, in an order
        // that all agree on: one of them wakes the connection.
        let left = self.pulse.running.fetch_sub(1, SeqCst) - 1;
        if left == self.pulse.unasked.load(SeqCst) {
            self.pulse.changed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_makes_a_connection_busy_until_its_end() {
        let pulse = Arc::new(Pulse::new(Heads::Bare));
        assert_eq!(pulse.phase(), WaitsFor::Head(0));
        let running = pulse.begin();
        pulse.read();
        assert_eq!(pulse.phase(), WaitsFor::Busy);
        drop(running);
        assert_eq!(pulse.phase(), WaitsFor::Idle(1));
        pulse.read();
        assert_eq!(pulse.phase(), WaitsFor::Head(1));
    }

    #[test]
    fn a_peer_that_does_not_read_is_waited_for_even_while_busy() {
        let pulse = Arc::new(Pulse::new(Heads::Bare));
        let _running = pulse.begin();
        pulse.write_blocked();
        assert_eq!(pulse.phase(), WaitsFor::Stalled(0));
        pulse.wrote();
        assert_eq!(pulse.phase(), WaitsFor::Busy);
        pulse.write_blocked();
        assert_eq!(pulse.phase(), WaitsFor::Stalled(1));
    }

    #[test]
    fn answers_that_are_all_left_unread_are_waited_for() {
        let pulse = Arc::new(Pulse::new(Heads::Framed));
        let (mut one, two) = (pulse.begin(), pulse.begin());
        one.answered();
        assert_eq!(pulse.phase(), WaitsFor::Busy, "the other is still at work");
        drop(two);
        assert_eq!(pulse.phase(), WaitsFor::Unread(1));
        one.asked();
        assert_eq!(pulse.phase(), WaitsFor::Busy);
        one.answered();
        assert_eq!(pulse.phase(), WaitsFor::Unread(2));
        drop(one);
        assert_eq!(pulse.phase(), WaitsFor::Idle(2));
    }

    #[test]
    fn a_connection_is_woken_when_only_unread_answers_are_left() {
        #[derive(Default)]
        struct Woken(AtomicUsize);

        impl std::task::Wake for Woken {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Relaxed);
            }
        }

        let woken = Arc::new(Woken::default());
        let pulse = Arc::new(Pulse::new(Heads::Framed));
        pulse.wake(&Waker::from(Arc::clone(&woken)));
        let (mut one, two) = (pulse.begin(), pulse.begin());
        one.answered();
        assert_eq!(woken.0.load(Relaxed), 0, "the other is still at work");
        drop(two);
        assert_eq!(woken.0.load(Relaxed), 1);
    }

    #[test]
    fn frames_between_requests_are_no_heads() {
        let pulse = Arc::new(Pulse::new(Heads::Framed));
        pulse.read();
        assert_eq!(pulse.phase(), WaitsFor::Idle(0));
        let (one, two) = (pulse.begin(), pulse.begin());
        drop(one);
        assert_eq!(pulse.phase(), WaitsFor::Busy);
        drop(two);
        assert_eq!(pulse.phase(), WaitsFor::Idle(2));
    }
}
