//! One call of a session: connects the task that serves it with the connection that waits for it.

use std::{
    future::{Future as _, poll_fn},
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use futures_core::future::BoxFuture;
use http::{Response, StatusCode};
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::{ErrorObject, Id};
use turnbuckle_transport::Outbox;

use super::{
    body::HttpBody, event_id::Carries, event_stream::EventStream, reply, session::HttpSession,
    session_stream, site::Site,
};
use crate::{
    edge::running::unless,
    engine::{sink, unsent::Unsent},
};

/// A running call. It belongs to the session, not to the connection that carried the request.
pub(super) struct SessionExchange {
    outbox: Outbox,
    /// The id of the request, for event ids if there are replicas.
    carries: Carries,
    state: Mutex<ExchangeState>,
}

enum ExchangeState {
    /// It is not known yet whether the answer is JSON or a stream.
    Waiting(Option<Waker>),
    /// The answer is JSON.
    Ready(sink::Response),
    /// The answer is a stream, or the client has disconnected.
    Streaming(Option<Arc<EventStream>>),
    /// The call was cancelled, so there is no answer.
    Cancelled,
}

impl SessionExchange {
    /// Runs the call until it ends, is cancelled, or its session ends.
    pub(super) fn spawn(
        session: &HttpSession,
        outbox: Outbox,
        id: Id,
        running: BoxFuture<'static, sink::Response>,
        unsent: Unsent,
    ) -> Result<Arc<Self>, ErrorObject> {
        let carries = Carries::Call(session.at.as_ref().map(|_| id.clone()));
        let begun = session.running.begin(id, running)?;
        let exchange = Arc::new(Self {
            outbox,
            carries,
            state: Mutex::new(ExchangeState::Waiting(None)),
        });
        let table = session.running.clone();
        let served = Arc::clone(&exchange);
        tokio::spawn(async move {
            let response = unless(&begun.cancel, begun.response).await;
            let id = begun.ticket.id().as_ref();
            let response = response.map(|response| unsent.pay(response, &id));
            let mut is_answered = false;
            table.answer(vec![(begun.ticket, response)], |answers| {
                for response in answers {
                    is_answered = true;
                    served.deliver(response);
                }
            });
            // cancellation: no response is sent for a cancelled request.
            if !is_answered {
                served.give_up();
            }
        });
        Ok(exchange)
    }

    fn state(&self) -> MutexGuard<'_, ExchangeState> {
        self.state.lock()
    }

    /// Passes the response to the connection that waits, or sends it on the stream.
    fn deliver(&self, response: sink::Response) {
        let mut state = self.state();
        let stream = match &mut *state {
            ExchangeState::Waiting(waker) => {
                let waker = waker.take();
                *state = ExchangeState::Ready(response);
                drop(state);
                return waker.into_iter().for_each(Waker::wake);
            }
            ExchangeState::Streaming(stream) => stream.take(),
            ExchangeState::Ready(_) | ExchangeState::Cancelled => None,
        };
        drop(state);
        if stream.is_none_or(|stream| stream.has_room_for(response.bytes())) {
            response.push_to(&self.outbox);
        } else {
            tracing::warn!(
                "an answer was dropped: its client disconnected, and there is no memory left to \
                 keep it"
            );
        }
        self.outbox.close();
    }

    fn give_up(&self) {
        let state = std::mem::replace(&mut *self.state(), ExchangeState::Cancelled);
        self.outbox.close();
        if let ExchangeState::Waiting(Some(waker)) = state {
            waker.wake();
        }
    }

    /// Answers with whatever comes first: the response, a message that is sent before it, or a
    /// stream after a long pause.
    ///
    /// # Cancel safety
    /// A client that disconnects before anything was sent has no event id with which to resume: the
    /// call continues, and its messages are dropped.
    pub(super) async fn answer(
        self: Arc<Self>,
        site: &Arc<Site>,
        session: &Arc<HttpSession>,
    ) -> Response<HttpBody> {
        let _waiting = WaitingForAnswer(&self);
        let mut lines = Vec::new();
        let mut quiet = pin!(tokio::time::sleep(site.settings.keep_alive));
        poll_fn(|context| {
            if self.poll_first(context, &mut lines).is_ready() {
                return Poll::Ready(());
            }
            quiet.as_mut().poll(context)
        })
        .await;
        let state = std::mem::replace(&mut *self.state(), ExchangeState::Streaming(None));
        match state {
            ExchangeState::Ready(response)
                if lines.is_empty() && self.outbox.pending_bytes() == 0 =>
            {
                return reply::whole(StatusCode::OK, response);
            }
            ExchangeState::Ready(response) => {
                response.push_to(&self.outbox);
                self.outbox.close();
            }
            // A stream without an event cannot be resumed.
            ExchangeState::Cancelled if lines.is_empty() => {
                return reply::events(HttpBody::empty());
            }
            ExchangeState::Waiting(_) | ExchangeState::Streaming(_) | ExchangeState::Cancelled => {}
        }
        let stream = session_stream::of(site, session, self.outbox.clone(), &self.carries);
        if let ExchangeState::Streaming(unread) = &mut *self.state() {
            *unread = Some(Arc::clone(&stream));
        }
        session_stream::begin(site, session, stream, lines)
    }

    fn poll_first(&self, context: &mut Context<'_>, lines: &mut Vec<u8>) -> Poll<()> {
        let is_settled = match &mut *self.state() {
            ExchangeState::Waiting(waker) => {
                *waker = Some(context.waker().clone());
                false
            }
            _ => true,
        };
        let has_lines = self.outbox.poll_lines(context, lines).is_ready();
        if is_settled || has_lines {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// A connection that waits for the beginning of its answer.
struct WaitingForAnswer<'a>(&'a SessionExchange);

impl Drop for WaitingForAnswer<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        if matches!(*state, ExchangeState::Waiting(_)) {
            *state = ExchangeState::Streaming(None);
            drop(state);
            // There will be no reader, so the call must not wait for space in the outbox.
            self.0.outbox.close();
        }
    }
}
