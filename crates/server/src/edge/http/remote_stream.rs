//! Resuming a stream whose call runs on another replica.
//!
//! This replica requests the events from the other one, again and again, each time those after the
//! last event that it has. So an answer that is lost is requested again, and a client that reads
//! slowly delays only itself.

use std::{
    future::poll_fn,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use http::Response;
use tokio::sync::mpsc;
use turnbuckle_protocol::{ErrorObject, Id, envelope};
use turnbuckle_store::bus::NodeId;
use turnbuckle_transport::{Held, http::sse};

use super::{
    body::{HttpBody, StreamBody},
    event_id::{Carries, EventId},
    keep_alive::KeepAlive,
    reply, routed,
    session::HttpSession,
    session_get, session_stream,
    site::Site,
};
use crate::replica::{CallFailed, Message, Outcome, Pulled, Replicas};

/// How long the other replica waits for the next event before it answers without events.
const WAIT: Duration = Duration::from_secs(10);

/// How much longer its answer may take.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// How many times in a row the other replica may fail to answer before the connection is closed,
/// and the client has to reconnect.
const MAX_LATE: usize = 3;

/// A stream of a session on another replica.
struct Remote {
    replicas: Arc<Replicas>,
    node: NodeId,
    place: u64,
    session: String,
    /// The key of the session in stores.
    key: String,
    caller: Option<String>,
    last: EventId,
}

/// Continues a stream of another replica, or tells the client what happened to it.
pub(super) async fn resume(
    site: &Arc<Site>,
    replicas: &Arc<Replicas>,
    session: &Arc<HttpSession>,
    last: EventId,
) -> Response<HttpBody> {
    let Some(place) = last.place else {
        return session_get::not_resumable();
    };
    let mut remote = Remote {
        replicas: Arc::clone(replicas),
        node: place.node,
        place: place.number,
        session: session.id.to_string(),
        key: session
            .at
            .as_ref()
            .map_or(String::new(), |at| at.key.to_string()),
        caller: session.peer.caller().id().map(str::to_owned),
        last,
    };
    match remote.pull(Duration::ZERO).await {
        Ok(Some(first)) => remote.read(site, first),
        Ok(None) | Err(CallFailed::NoSuchNode) => remote.lost(site, session).await,
        Err(late @ CallFailed::Late) => routed::unreachable(&late),
    }
}

impl Remote {
    /// Requests the next events; `None` if the stream no longer exists.
    async fn pull(&mut self, wait: Duration) -> Result<Option<Pulled>, CallFailed> {
        let message = Message::Pull {
            session: self.session.clone(),
            caller: self.caller.clone(),
            place: self.place,
            stream: self.last.stream,
            event: self.last.event,
            wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        };
        let called = self.replicas.call(self.node, message, wait + ANSWER_WITHIN);
        let Outcome::Pulled(pulled) = called.await? else {
            return Ok(None);
        };
        let ids = pulled
            .events
            .lines()
            .filter_map(|line| line.strip_prefix("id: "));
        if let Some(last) = ids.filter_map(EventId::parse).next_back() {
            self.last.event = last.event;
        }
        Ok(Some(pulled))
    }

    /// Answers with the events of the stream. Must be called inside a runtime.
    fn read(self, site: &Arc<Site>, first: Pulled) -> Response<HttpBody> {
        let (sender, events) = mpsc::channel(1);
        // This task ends with the stream, or with the connection that reads it.
        tokio::spawn(self.pull_all(sender, first));
        answer(site, events)
    }

    async fn pull_all(mut self, sender: mpsc::Sender<Vec<u8>>, first: Pulled) {
        let mut next = first;
        let mut late = 0;
        loop {
            let is_over = next.is_over;
            if sender.send(next.events.into_bytes()).await.is_err() || is_over {
                return;
            }
            let Some(pulled) = unless_closed(&sender, self.pull(WAIT)).await else {
                return;
            };
            next = match pulled {
                Ok(Some(pulled)) => {
                    late = 0;
                    pulled
                }
                Ok(None) | Err(CallFailed::NoSuchNode) => Pulled {
                    events: self.afterwards().await.unwrap_or_default(),
                    is_over: true,
                },
                // The client reconnects with the id of the last event that it has.
                Err(CallFailed::Late) if late >= MAX_LATE => return,
                Err(CallFailed::Late) => {
                    late += 1;
                    Pulled::default()
                }
            };
        }
    }

    /// The id of the call whose stream was lost, if it is known.
    fn lost_call(&self) -> Option<&Id> {
        match &self.last.carries {
            Carries::Call(request) => request.as_ref(),
            Carries::Standing => None,
        }
    }

    /// The events for a client if the replica of its call has ended: the events that the replica
    /// stored, and an error if the call was not answered. `None` if nothing is known about the
    /// call.
    async fn afterwards(&self) -> Option<String> {
        let (stream, event) = (self.last.stream, self.last.event);
        let logged = match self.last.place {
            Some(place) => {
                let reading = self.replicas.logged(place, stream, &self.key, event);
                tokio::time::timeout(ANSWER_WITHIN, reading)
                    .await
                    .ok()
                    .flatten()
            }
            None => None,
        };
        let logged = logged.unwrap_or_default();
        let error = if logged.is_answered {
            None
        } else {
            self.lost_call().map(error_event)
        };
        if logged.events.is_empty() && error.is_none() && !logged.is_answered {
            return None;
        }
        Some(logged.events + error.as_deref().unwrap_or_default())
    }

    /// Answers for a stream that no longer exists. A call is answered with its stored events or an
    /// error; the messages of the session as a whole continue on a stream of this replica.
    async fn lost(&self, site: &Arc<Site>, session: &Arc<HttpSession>) -> Response<HttpBody> {
        if self.last.carries == Carries::Standing {
            return session_stream::open_standing(site, session);
        }
        match self.afterwards().await {
            Some(events) => {
                let (sender, receiver) = mpsc::channel(1);
                // The channel has space for one message.
                let _ = sender.try_send(events.into_bytes());
                answer(site, receiver)
            }
            None => session_get::not_resumable(),
        }
    }
}

fn answer(site: &Site, events: mpsc::Receiver<Vec<u8>>) -> Response<HttpBody> {
    reply::events(HttpBody::stream(RemoteBody {
        events,
        keep_alive: KeepAlive::new(site.settings.keep_alive),
    }))
}

/// Returns the output of a future, or `None` if there is no reader any more.
async fn unless_closed<T>(
    sender: &mpsc::Sender<Vec<u8>>,
    future: impl Future<Output = T>,
) -> Option<T> {
    let mut closed = pin!(sender.closed());
    let mut future = pin!(future);
    poll_fn(|context| {
        if closed.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        future.as_mut().poll(context).map(Some)
    })
    .await
}

/// The error for a call whose replica has ended, as an event.
fn error_event(request: &Id) -> String {
    let error = ErrorObject::internal(
        "the server process that ran this call has ended, or no longer has its result: call again",
    );
    let mut message = Vec::new();
    let written = envelope::write_error(&mut message, Ok(&request.as_ref()), &error);
    written.expect("an error object is plain JSON");
    let mut event = Vec::new();
    sse::Frame::of(&message).append_to(&mut event);
    String::from_utf8(event).unwrap_or_default()
}

/// A connection that reads the stream.
struct RemoteBody {
    events: mpsc::Receiver<Vec<u8>>,
    keep_alive: KeepAlive,
}

impl StreamBody for RemoteBody {
    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while let Poll::Ready(events) = self.events.poll_recv(context) {
            match events {
                None => return Poll::Ready(None),
                Some(events) if events.is_empty() => {}
                Some(events) => {
                    return self.keep_alive.poll_piece(context, events, Held::default());
                }
            }
        }
        let comment = ready!(
            self.keep_alive
                .poll_piece(context, Vec::new(), Held::default())
        );
        Poll::Ready(comment)
    }
}
