//! The answer to a modern request as a stream: notifications, then the response.
//!
//! The stream owns the running handler and drives it, so there is no task to spawn, no channel to
//! cross, and nothing left when the client hangs up.

use std::{
    future::{Future as _, poll_fn},
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use turnbuckle_protocol::Id;
use turnbuckle_transport::{Held, Outbox, http::sse};

use super::{
    body::{HttpBody, StreamBody},
    keep_alive::{KeepAlive, append_lines},
    site::Site,
};
use crate::engine::{Response, unsent::Unsent};

struct ExchangeBody {
    outbox: Outbox,
    running: Option<BoxFuture<'static, Response>>,
    keep_alive: KeepAlive,
    answered: AnswerTo,
}

/// The client to answer, and the id of the request.
pub(super) struct AnswerTo {
    pub(super) unsent: Unsent,
    pub(super) id: Id,
}

/// The beginning of the answer to an exchange.
pub(super) enum BodyStart {
    /// As one body.
    Whole(Response),
    /// Bit by bit.
    Stream(HttpBody),
}

/// Waits for whatever comes first: the response, something sent before it, or a silence so long
/// that somebody on the way might take the connection for dead.
pub(super) async fn begin(
    outbox: Outbox,
    mut running: BoxFuture<'static, Response>,
    site: &Arc<Site>,
    answered: impl FnOnce() -> AnswerTo,
) -> BodyStart {
    let mut quiet = Box::pin(tokio::time::sleep(site.settings.keep_alive));
    let whole = poll_fn(|context| {
        let response = running.as_mut().poll(context);
        // The handler may have sent and finished in one go: what it sent comes first.
        if outbox.poll_queued(context).is_ready() {
            return Poll::Ready(response_of(response));
        }
        match response {
            Poll::Ready(response) => Poll::Ready(Some(response)),
            Poll::Pending => quiet.as_mut().poll(context).map(|()| None),
        }
    })
    .await;
    match whole {
        Some(response) if outbox.pending_bytes() == 0 => BodyStart::Whole(response),
        Some(response) => {
            let ready = Box::pin(std::future::ready(response));
            BodyStart::Stream(stream(outbox, ready, site, answered()))
        }
        None => BodyStart::Stream(stream(outbox, running, site, answered())),
    }
}

fn response_of(response: Poll<Response>) -> Option<Response> {
    match response {
        Poll::Ready(response) => Some(response),
        Poll::Pending => None,
    }
}

/// The answer as a stream.
pub(super) fn stream(
    outbox: Outbox,
    running: BoxFuture<'static, Response>,
    site: &Arc<Site>,
    answered: AnswerTo,
) -> HttpBody {
    HttpBody::stream(ExchangeBody {
        outbox,
        running: Some(running),
        keep_alive: KeepAlive::new(site.settings.keep_alive),
        answered,
    })
}

impl StreamBody for ExchangeBody {
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(running) = &mut self.running else {
            return Poll::Ready(None);
        };
        let response = running.as_mut().poll(context);
        let (mut lines, mut events, mut held) = (Vec::new(), Vec::new(), Held::default());
        let _ = self
            .outbox
            .poll_lines_holding(context, &mut lines, &mut held);
        append_lines(&lines, &mut events);
        if let Poll::Ready(response) = response {
            let AnswerTo { unsent, id } = &self.answered;
            let mut response = unsent.pay(response, &id.as_ref());
            if let Some(paid) = response.paid.take() {
                held.add(paid);
            }
            sse::Frame::of(&response.into_message()).append_to(&mut events);
            self.running = None;
        }
        self.keep_alive.poll_piece(context, events, held)
    }
}
