//! Passes incoming messages to the receiver, in batches.

use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::Instant;

use crate::limits::Limits;
use crate::line::{Line, LineBuffer};
use crate::outbox::Outbox;
use crate::receive::Receive;

/// 16 KiB: after a message of this length, check whether the receiver can accept another one.
const LARGE_BYTES: usize = 16 * 1024;

/// Why a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// Every complete line was passed on.
    Done,
    /// More lines are left, but the answers should be written first.
    Interrupted,
}

/// The input of one connection: its read buffer and its receiver.
#[derive(Debug)]
pub(crate) struct Inlet<C> {
    lines: LineBuffer,
    receiver: C,
    flush_after: Duration,
}

impl<C: Receive> Inlet<C> {
    pub(crate) fn new(receiver: C, limits: Limits) -> Self {
        Self {
            lines: LineBuffer::new(limits.max_message_bytes),
            receiver,
            flush_after: limits.flush_after,
        }
    }

    /// The same with a read buffer that is small until a read fills it, so that the first answer of a
    /// process comes faster.
    pub(crate) fn starting_small(self) -> Self {
        Self {
            lines: self.lines.starting_small(),
            ..self
        }
    }

    /// The space for the next read.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        self.lines.space()
    }

    /// Records that `count` bytes of the space were filled.
    pub(crate) fn filled(&mut self, count: usize) {
        self.lines.filled(count);
    }

    /// Passes complete lines to the receiver, until the answers should be written. The caller begins
    /// the outbox's batch before and ends it after this.
    pub(crate) fn deliver(&mut self, outbox: &Outbox) -> Batch {
        let began = Instant::now();
        while let Some(line) = self.lines.next() {
            let mut is_large = false;
            match line {
                Line::Message(message) => {
                    is_large = message.len() > LARGE_BYTES;
                    self.receiver.receive(message);
                }
                Line::Fault(fault) => self.receiver.receive_fault(fault),
            }
            if is_large || outbox.is_backlogged() || began.elapsed() > self.flush_after {
                return Batch::Interrupted;
            }
        }
        Batch::Done
    }

    /// Ready when the receiver accepts another message.
    pub(crate) fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.receiver.poll_room(context)
    }

    /// Tells the receiver that the input has ended.
    pub(crate) fn finish(&mut self) {
        if let Some(fault) = self.lines.finish() {
            self.receiver.receive_fault(fault);
        }
        self.receiver.closed();
    }
}
