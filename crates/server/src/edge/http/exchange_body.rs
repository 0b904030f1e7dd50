//! The answer to a modern request as a stream: notifications, then the response.
//!
//! The stream owns the running handler and polls it. So no task or channel is needed, and nothing
//! is left when the client disconnects.

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

/// The request that is answered, and the quota of its caller.
pub(super) struct AnswerTo {
    pub(super) unsent: Unsent,
    pub(super) id: Id,
}

/// The answer to an exchange, as far as it has begun.
pub(super) enum BodyStart {
    /// A complete response.
    Whole(Response),
    /// A stream.
    Stream(HttpBody),
}

/// Waits for whatever comes first: the response, a message that is sent before it, or a pause so
/// long that a proxy might close the connection.
pub(super) async fn begin(
    outbox: Outbox,
    mut running: BoxFuture<'static, Response>,
    site: &Arc<Site>,
    answered: impl FnOnce() -> AnswerTo,
) -> BodyStart {
    let mut quiet = Box::pin(tokio::time::sleep(site.settings.keep_alive));
    let whole = poll_fn(|context| {
        let response = running.as_mut().poll(context);
        // The handler may have sent messages and finished at once; its messages come first.
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

/// Makes the answer a stream.
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
