//! The task of a connection over HTTP: it says what wants no answer, and ends the session.

use std::{collections::VecDeque, future::poll_fn, sync::Arc, task::Poll, time::Duration};

use bytes::Bytes;
use tokio::{sync::mpsc, task::JoinSet};
use turnbuckle_transport::{
    Outbox,
    http::client::{Address, Agent, Events, Method},
};

use super::{Http, head};
use crate::{
    client::Profile,
    link::{Inbound, Link, Opened},
};

/// How many answers and notifications are on their way at once.
const MAX_TELLING: usize = 16;

/// How many streams wait to be read to their end.
const MAX_LEFTOVERS: usize = 64;

/// How long a server may take to accept an answer or a notification: a loaded one some seconds.
const TELL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a stream that has said what it was for may stay open.
const LEFTOVER_TIMEOUT: Duration = Duration::from_secs(1);

/// How long closing may take: for the last notifications, and again for the end of the session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Starts the tasks of a connection over HTTP. Nothing is sent yet.
pub(crate) fn open_http(
    server: Arc<str>,
    profile: Arc<Profile>,
    agent: Agent,
    address: Address,
) -> Opened {
    let (leftovers, received) = mpsc::channel(MAX_LEFTOVERS);
    let limit = profile.settings.limits.max_message_bytes;
    let http = Arc::new(Http::new(agent, address, limit, leftovers));
    let link = Arc::new(Link::over_http(server, profile, http.clone()));
    http.attach(Inbound::new(link.clone()));
    Opened::start(link.clone(), None, drive(link, http, received))
}

async fn drive(link: Arc<Link>, http: Arc<Http>, mut leftovers: mpsc::Receiver<Events>) {
    let outbox = link.wire.outbox();
    let mut tasks = JoinSet::new();
    let mut waiting = VecDeque::new();
    loop {
        match next(&outbox, &mut leftovers, &mut tasks, &mut waiting).await {
            Step::Tell(message) => {
                tasks.spawn(tell(link.clone(), http.clone(), message));
            }
            Step::Finish(events) => {
                tasks.spawn(finish(events));
            }
            Step::Close => break,
        }
    }
    let told = async { while tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, told).await;
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, end_session(&link, &http)).await;
    link.end_as_lost();
}

enum Step {
    Tell(Bytes),
    Finish(Box<Events>),
    Close,
}

async fn next(
    outbox: &Outbox,
    leftovers: &mut mpsc::Receiver<Events>,
    tasks: &mut JoinSet<()>,
    waiting: &mut VecDeque<Bytes>,
) -> Step {
    poll_fn(|context| {
        while let Poll::Ready(Some(_)) = tasks.poll_join_next(context) {}
        if let Poll::Ready(Some(events)) = leftovers.poll_recv(context) {
            return Poll::Ready(Step::Finish(Box::new(events)));
        }
        if tasks.len() >= MAX_TELLING {
            return Poll::Pending;
        }
        if let Some(message) = waiting.pop_front() {
            return Poll::Ready(Step::Tell(message));
        }
        let mut lines = Vec::new();
        match outbox.poll_lines(context, &mut lines) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(Step::Close),
            Poll::Ready(Some(())) => {
                let lines = lines.split(|byte| *byte == b'\n');
                let messages = lines.filter(|line| !line.is_empty());
                waiting.extend(messages.map(Bytes::copy_from_slice));
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    })
    .await
}

async fn tell(link: Arc<Link>, http: Arc<Http>, message: Bytes) {
    let telling = http.tell(&link, message);
    let problem = match link.pending.within(TELL_TIMEOUT, telling).await {
        Some(Ok(())) => return,
        Some(Err(fault)) => fault
            .into_error(link.server().clone(), "a message")
            .to_string(),
        None => format!("it was not accepted within {TELL_TIMEOUT:?}"),
    };
    tracing::warn!(
        server = &**link.server(),
        problem,
        "an answer or a notification was not taken"
    );
}

async fn finish(mut events: Box<Events>) {
    let rest = async { while let Ok(Some(_)) = events.next().await {} };
    let _ = tokio::time::timeout(LEFTOVER_TIMEOUT, rest).await;
}

/// transports: a client that is done with a session SHOULD say so. The server may not care.
async fn end_session(link: &Link, http: &Http) {
    let session = http.session();
    if !session.can_expire() {
        return;
    }
    let headers = head::of_session(link, &session);
    let ended = http
        .agent
        .send(Method::DELETE, &http.address, headers, Bytes::new())
        .await;
    match ended {
        Ok(reply) => tracing::debug!(status = %reply.status(), "ended the session"),
        Err(error) => tracing::debug!(%error, "could not end the session"),
    }
}
