//! Reading the outbox for transports that do not write to a byte stream, such as HTTP bodies.

use std::task::{Context, Poll};

use super::drain::{Chunk, Taken};
use super::held::Held;
use super::send::Outbox;

impl Outbox {
    /// Moves the queued lines to `lines`, each with its line end, for a custom transport. Returns
    /// `None` when the outbox is closed and everything was taken.
    ///
    /// Lines that were taken count as written: take only what you can send. Only one task at a time may
    /// wait here.
    pub fn poll_lines(&self, cx: &mut Context<'_>, lines: &mut Vec<u8>) -> Poll<Option<()>> {
        self.poll_lines_holding(cx, lines, &mut Held::default())
    }

    /// The same, and also returns the values that are held for the lines
    /// ([`push_holding`](Self::push_holding)). Drop them when the lines have been sent.
    pub fn poll_lines_holding(
        &self,
        cx: &mut Context<'_>,
        lines: &mut Vec<u8>,
        held: &mut Held,
    ) -> Poll<Option<()>> {
        let mut chunk = Chunk::default();
        match self.poll_take(cx, &mut chunk) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Taken::Lines) => {
                let count = chunk.rest().len();
                lines.extend_from_slice(chunk.rest());
                held.append(&mut self.lock().let_go());
                self.wrote(&mut chunk, count);
                Poll::Ready(Some(()))
            }
            Poll::Ready(Taken::Finished | Taken::Failed(_)) => Poll::Ready(None),
        }
    }
}
