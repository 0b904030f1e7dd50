//! The task of a connection over HTTP: it sends notifications and answers ([`telling`](super::telling)),
//! reads response streams to their ends, and ends the session.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::mpsc, task::JoinSet};
use turnbuckle_transport::http::client::{Address, Agent, Events, Method};

use super::telling::{OutgoingMessage, Telling};
use crate::{
    ends::Ends,
    future::race,
    http::{Http, is_message, of_session},
    link::{Inbound, Link, Opened},
    profile::Profile,
};

/// How many response streams are read to their end at once, and how many more wait for that. Beyond
/// that limit, the stream's connection is closed.
const MAX_LEFTOVERS: usize = 64;

/// How long a response stream may stay open after its response has arrived.
const LEFTOVER_TIMEOUT: Duration = Duration::from_secs(1);

/// How long closing may take: for the last notifications, and again for ending the session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Starts the tasks of a connection over HTTP. Nothing is sent yet.
pub(super) fn open_http(
    server: Arc<str>,
    profile: Arc<Profile>,
    agent: Agent,
    address: Address,
) -> Opened {
    let (leftovers, received) = mpsc::channel(MAX_LEFTOVERS);
    let ends = Arc::new(Ends::new(server, profile));
    let http = Arc::new(Http::new(agent, address, ends, Arc::default(), leftovers));
    let link = Arc::new(Link::over_http(http.clone()));
    http.attach(Inbound::new(link.clone()));
    Opened::start(link.clone(), None, drive(link, http, received))
}

async fn drive(link: Arc<Link>, http: Arc<Http>, leftovers: mpsc::Receiver<Events>) {
    let outbox = link.wire.outbox();
    let mut work = DriverQueues {
        telling: Telling::new(outbox.clone()),
        leftovers,
        finishing: JoinSet::new(),
    };
    // Messages that cannot be delivered must not delay the end, so it does not wait for its turn.
    let _ = race(outbox.closed(), work.run(&link, &http)).await;
    work.telling.finish(&link, &http, CLOSE_TIMEOUT).await;
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, end_session(&link, &http)).await;
    link.end_as_lost();
}

/// The queues of the task.
struct DriverQueues {
    telling: Telling,
    leftovers: mpsc::Receiver<Events>,
    finishing: JoinSet<()>,
}

enum DriverAction {
    Tell(OutgoingMessage),
    Finish(Box<Events>),
    Close,
}

impl DriverQueues {
    /// Works until the outbox is closed.
    async fn run(&mut self, link: &Arc<Link>, http: &Arc<Http>) {
        loop {
            match poll_fn(|context| self.poll_next(context)).await {
                DriverAction::Tell(message) => self.telling.send(link, http, message),
                DriverAction::Finish(events) => {
                    self.finishing.spawn(finish(http.clone(), events));
                }
                DriverAction::Close => return,
            }
        }
    }

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<DriverAction> {
        while let Poll::Ready(Some(_)) = self.finishing.poll_join_next(context) {}
        if self.finishing.len() < MAX_LEFTOVERS
            && let Poll::Ready(Some(events)) = self.leftovers.poll_recv(context)
        {
            return Poll::Ready(DriverAction::Finish(Box::new(events)));
        }
        let message = ready!(self.telling.poll_next(context));
        Poll::Ready(message.map_or(DriverAction::Close, DriverAction::Tell))
    }
}

/// Reads a stream to its end. No more messages are expected on it; any that come are handled.
async fn finish(http: Arc<Http>, mut events: Box<Events>) {
    let rest = async {
        while let Ok(Some(event)) = events.next().await {
            if is_message(&event) {
                http.receive(event.data.as_bytes(), None);
                http.room().await;
            }
        }
    };
    let _ = tokio::time::timeout(LEFTOVER_TIMEOUT, rest).await;
}

/// transports: a client that is done with a session SHOULD end it with a DELETE. The server may refuse.
async fn end_session(link: &Link, http: &Http) {
    let session = http.sessions.take_newest();
    if !session.can_expire() || link.lifecycle.keeps_session() {
        return;
    }
    let headers = of_session(&link.ends, &session);
    let ended = http
        .agent
        .send(Method::DELETE, &http.address, headers, Bytes::new())
        .await;
    match ended {
        Ok(reply) => tracing::debug!(status = %reply.status(), "ended the session"),
        Err(error) => tracing::debug!(%error, "could not end the session"),
    }
}
