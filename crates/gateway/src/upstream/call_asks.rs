//! A queue for the questions of one call.
//!
//! A tokio channel allocates room for 32 messages when it is created. In most calls servers ask
//! nothing, and a parked call waits for minutes, so this queue allocates nothing before the first
//! question.

use std::{
    collections::VecDeque,
    future::poll_fn,
    task::{Context, Poll, Waker},
};

use turnbuckle_base::lock::Mutex;
use turnbuckle_client::RelayAsk;

/// How many questions may be queued for one call.
const MAX_WAITING_ASKS: usize = 32;

/// The queued questions of one call.
#[derive(Default)]
pub(super) struct CallAsks(Mutex<WaitingAsks>);

#[derive(Default)]
struct WaitingAsks {
    asks: VecDeque<Box<RelayAsk>>,
    waker: Option<Waker>,
    is_over: bool,
}

impl CallAsks {
    /// Adds a question. Returns it if the queue is full or the call is over.
    pub(super) fn add(&self, ask: Box<RelayAsk>) -> Result<(), Box<RelayAsk>> {
        let waker = {
            let mut waiting = self.0.lock();
            if waiting.is_over || waiting.asks.len() >= MAX_WAITING_ASKS {
                return Err(ask);
            }
            waiting.asks.push_back(ask);
            waiting.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    /// Returns the next question.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub(super) async fn next(&self) -> RelayAsk {
        poll_fn(|context| self.poll_next(context)).await
    }

    fn poll_next(&self, context: &Context<'_>) -> Poll<RelayAsk> {
        let mut waiting = self.0.lock();
        let Some(ask) = waiting.asks.pop_front() else {
            match &mut waiting.waker {
                Some(waker) => waker.clone_from(context.waker()),
                none => *none = Some(context.waker().clone()),
            }
            return Poll::Pending;
        };
        if waiting.asks.is_empty() {
            waiting.asks = VecDeque::new();
        }
        Poll::Ready(*ask)
    }

    /// Ends the queue when the call is over. Questions that are still queued are not answered.
    pub(super) fn end(&self) {
        let left = {
            let mut waiting = self.0.lock();
            waiting.is_over = true;
            std::mem::take(&mut waiting.asks)
        };
        drop(left);
    }
}
