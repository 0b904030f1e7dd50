//! The writing thread: it sleeps unless a message is queued that the reading thread does not write
//! itself.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use super::file::Output;
use crate::outbox::{Chunk, Outbox, Taken};

/// Writes queued messages until the outbox is closed and empty.
pub(super) fn write_all(outbox: &Outbox, output: &Output) -> io::Result<()> {
    let mut chunk = Chunk::default();
    let waker = waker();
    let mut cx = Context::from_waker(&waker);
    loop {
        match park_until(&mut cx, |cx| outbox.poll_take(cx, &mut chunk)) {
            Taken::Finished => return Ok(()),
            Taken::Failed(error) => return Err(error),
            Taken::Lines => {
                while !chunk.rest().is_empty() {
                    let count = output.write(chunk.rest())?;
                    outbox.wrote(&mut chunk, count);
                }
            }
        }
    }
}

/// Polls until ready, and parks the thread in between.
pub(super) fn park_until<T>(
    cx: &mut Context<'_>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> T {
    loop {
        if let Poll::Ready(value) = poll(cx) {
            return value;
        }
        thread::park();
    }
}

/// A waker that unparks this thread.
pub(super) fn waker() -> Waker {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    Waker::from(Arc::new(Unpark(thread::current())))
}
