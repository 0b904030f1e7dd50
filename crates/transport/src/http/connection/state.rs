//! The current state of a connection, which decides which timeout applies.
//!
//! It is updated by the byte stream and the requests, and read by the deadline. It consists of
//! counters, because the requests of HTTP/2 run in tasks of their own.

use std::sync::atomic::{
    AtomicBool, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

/// Counters for the events on a connection.
#[derive(Debug)]
pub(super) struct ConnectionState {
    heads: Heads,
    /// Requests that have begun and are not completely answered.
    running: AtomicUsize,
    /// All requests that have begun.
    begun: AtomicUsize,
    /// Whether a part of a head has arrived, but not all of it.
    has_part_of_head: AtomicBool,
    /// Running requests that have an unsent part of their response and are not polled for more.
    unasked: AtomicUsize,
    /// All parts of responses.
    parts: AtomicUsize,
    /// All successful writes.
    writes: AtomicUsize,
    is_write_blocked: AtomicBool,
    /// Wakes the connection when its phase has changed.
    connection: OnceLock<Waker>,
}

/// Whether bytes that arrive without a running request belong to a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heads {
    /// They do, on HTTP/1.1.
    Bare,
    /// On HTTP/2 they may be anything; its pings detect a peer that hangs in the middle of a head.
    Framed,
}

/// What the connection waits for. The numbers distinguish one wait from the next of the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsFor {
    /// The server itself, or the body of a request, for which the service is responsible.
    Busy,
    /// The rest of a head.
    Head(usize),
    /// The next request.
    Idle(usize),
    /// The peer, which does not read.
    Stalled(usize),
    /// The peer, which reads none of the responses on HTTP/2. It can leave single streams unread while
    /// it reads the connection.
    Unread(usize),
    /// The peer, which must notice that the connection ends.
    Farewell,
}

impl ConnectionState {
    /// Creates the state of a connection whose first bytes have arrived.
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

    /// Registers the waker for changes by other tasks. Once is enough, because a connection does not
    /// move to another task.
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

    /// Records that bytes have arrived.
    pub(super) fn read(&self) {
        if self.heads == Heads::Bare && self.running.load(Relaxed) == 0 {
            self.has_part_of_head.store(true, Relaxed);
        }
    }

    /// Records that bytes were written.
    pub(super) fn wrote(&self) {
        // Only the connection's own task writes, so a load and a store are enough.
        self.writes
            .store(self.writes.load(Relaxed).wrapping_add(1), Relaxed);
        self.is_write_blocked.store(false, Relaxed);
    }

    /// Records that all bytes were written.
    pub(super) fn flushed(&self) {
        if self.is_write_blocked.load(Relaxed) {
            self.wrote();
        }
    }

    /// Records that the peer accepts no more bytes.
    pub(super) fn write_blocked(&self) {
        self.is_write_blocked.store(true, Relaxed);
    }

    /// Records a complete head. Its request runs until the returned value is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Running {
        self.has_part_of_head.store(false, Relaxed);
        self.begun.fetch_add(1, Relaxed);
        self.running.fetch_add(1, Relaxed);
        Running {
            state: Arc::clone(self),
            is_unasked: false,
        }
    }
}

/// A request that is not completely answered.
#[derive(Debug)]
pub(super) struct Running {
    state: Arc<ConnectionState>,
    is_unasked: bool,
}

impl Running {
    /// Records that the response is polled for more.
    pub(super) fn asked(&mut self) {
        if std::mem::take(&mut self.is_unasked) {
            self.state.unasked.fetch_sub(1, Relaxed);
        }
    }

    /// Records that a part of the response is being sent. HTTP/1.1 sends one response at a time, so
    /// there the writes are enough.
    pub(super) fn answered(&mut self) {
        if self.state.heads == Heads::Framed {
            self.is_unasked = true;
            self.state.parts.fetch_add(1, Relaxed);
            let unasked = self.state.unasked.fetch_add(1, SeqCst) + 1;
            if unasked == self.state.running.load(SeqCst) {
                self.state.changed();
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.asked();
        // No request is left, or only requests that are not polled for more. If another one is answered
        // at the same time, each task changes its counter before it reads the other's, in a consistent
        // order, so at least one of them wakes the connection.
        let left = self.state.running.fetch_sub(1, SeqCst) - 1;
        if left == self.state.unasked.load(SeqCst) {
            self.state.changed();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_makes_a_connection_busy_until_its_end() {
        let state = Arc::new(ConnectionState::new(Heads::Bare));
        assert_eq!(state.phase(), WaitsFor::Head(0));
        let running = state.begin();
        state.read();
        assert_eq!(state.phase(), WaitsFor::Busy);
        drop(running);
        assert_eq!(state.phase(), WaitsFor::Idle(1));
        state.read();
        assert_eq!(state.phase(), WaitsFor::Head(1));
    }

    #[test]
    fn a_peer_that_does_not_read_is_waited_for_even_while_busy() {
        let state = Arc::new(ConnectionState::new(Heads::Bare));
        let _running = state.begin();
        state.write_blocked();
        assert_eq!(state.phase(), WaitsFor::Stalled(0));
        state.wrote();
        assert_eq!(state.phase(), WaitsFor::Busy);
        state.write_blocked();
        assert_eq!(state.phase(), WaitsFor::Stalled(1));
    }

    #[test]
    fn answers_that_are_all_left_unread_are_waited_for() {
        let state = Arc::new(ConnectionState::new(Heads::Framed));
        let (mut one, two) = (state.begin(), state.begin());
        one.answered();
        assert_eq!(state.phase(), WaitsFor::Busy, "the other is still at work");
        drop(two);
        assert_eq!(state.phase(), WaitsFor::Unread(1));
        one.asked();
        assert_eq!(state.phase(), WaitsFor::Busy);
        one.answered();
        assert_eq!(state.phase(), WaitsFor::Unread(2));
        drop(one);
        assert_eq!(state.phase(), WaitsFor::Idle(2));
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
        let state = Arc::new(ConnectionState::new(Heads::Framed));
        state.wake(&Waker::from(Arc::clone(&woken)));
        let (mut one, two) = (state.begin(), state.begin());
        one.answered();
        assert_eq!(woken.0.load(Relaxed), 0, "the other is still at work");
        drop(two);
        assert_eq!(woken.0.load(Relaxed), 1);
    }

    #[test]
    fn frames_between_requests_are_no_heads() {
        let state = Arc::new(ConnectionState::new(Heads::Framed));
        state.read();
        assert_eq!(state.phase(), WaitsFor::Idle(0));
        let (one, two) = (state.begin(), state.begin());
        drop(one);
        assert_eq!(state.phase(), WaitsFor::Busy);
        drop(two);
        assert_eq!(state.phase(), WaitsFor::Idle(2));
    }
}
