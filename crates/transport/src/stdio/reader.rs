//! The reading thread: reads messages, passes them on, and writes the answers of each batch at once.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use super::file::{self, Output};
use super::writer::{park_until, waker};
use crate::inlet::{Batch, Inlet};
use crate::outbox::{Chunk, Outbox};
use crate::receive::Receive;

pub(super) struct Reader<'a, C> {
    inlet: Inlet<C>,
    outbox: &'a Outbox,
    output: &'a Output,
    /// Set when no more messages are wanted.
    is_stopped: &'a AtomicBool,
    chunk: Chunk,
    waker: Waker,
}

impl<'a, C: Receive> Reader<'a, C> {
    pub(super) fn new(
        inlet: Inlet<C>,
        outbox: &'a Outbox,
        output: &'a Output,
        is_stopped: &'a AtomicBool,
    ) -> Self {
        Self {
            inlet,
            outbox,
            output,
            is_stopped,
            chunk: Chunk::default(),
            waker: waker(),
        }
    }

    /// Reads until the input ends, or until it is stopped and more input arrives.
    pub(super) fn read_all(mut self, input: &File) -> io::Result<()> {
        let ended = loop {
            match file::read(input, self.inlet.space()) {
                _ if self.is_stopped() => return Ok(()),
                Ok(0) => break Ok(()),
                Ok(count) => self.inlet.filled(count),
                Err(error) => break Err(error),
            }
            while self.hand_over() == Batch::Interrupted {
                if self.is_stopped() {
                    return Ok(());
                }
            }
        };
        self.outbox.begin_batch();
        self.inlet.finish();
        self.flush();
        ended
    }

    fn hand_over(&mut self) -> Batch {
        let mut cx = Context::from_waker(&self.waker);
        park_until(&mut cx, |cx| {
            if self.is_stopped.load(Ordering::Relaxed) {
                return Poll::Ready(());
            }
            self.inlet.poll_room(cx)
        });
        self.outbox.begin_batch();
        let batch = self.inlet.deliver(self.outbox);
        self.flush();
        if self.outbox.is_backlogged() {
            let mut cx = Context::from_waker(&self.waker);
            park_until(&mut cx, |cx| self.outbox.poll_room(cx));
        }
        batch
    }

    /// Writes the answers of the batch. The writing thread writes what the peer does not accept now, so
    /// that this thread can continue to read from a peer that does not read at the moment: it may be
    /// about to cancel something.
    fn flush(&mut self) {
        if !self.outbox.end_batch_and_take(&mut self.chunk) {
            return;
        }
        match self.output.try_write(self.chunk.rest()) {
            Ok(count) => {
                self.outbox.wrote(&mut self.chunk, count);
                if !self.chunk.rest().is_empty() {
                    self.outbox.give_back(&mut self.chunk);
                }
            }
            Err(error) => self.outbox.fail(error),
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}
