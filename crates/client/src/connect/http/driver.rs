//! The task of a connection over HTTP: it sends notifications and answers, and ends the session.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::mpsc, task::JoinSet};
use turnbuckle_protocol::envelope::{self, Frame, Message};
use turnbuckle_transport::{
    Outbox,
    http::client::{Address, Agent, Events, Method},
};

use crate::{
    ends::Ends,
    http::{Fault, Http, Session, TellError, is_message, jitter, of_session},
    link::{Inbound, Link, Opened},
    profile::Profile,
};

/// How many answers and notifications are being sent at once.
const MAX_TELLING: usize = 16;

/// How many response streams are read to their end at once, and how many more wait for that. Beyond
/// that limit, the stream's connection is closed.
const MAX_LEFTOVERS: usize = 64;

/// How long a server may take to accept an answer or a notification. A server under load takes seconds.
const TELL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long to wait before a message that did not arrive is sent again: the first and the longest
/// pause.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often a notification is sent if no connection can be made.
const NOTIFICATION_ATTEMPTS: u32 = 3;

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

async fn drive(link: Arc<Link>, http: Arc<Http>, mut leftovers: mpsc::Receiver<Events>) {
    let mut work = DriverQueues {
        outbox: link.wire.outbox(),
        waiting: VecDeque::new(),
        telling: JoinSet::new(),
        finishing: JoinSet::new(),
    };
    loop {
        match work.next(&mut leftovers).await {
            DriverAction::Tell(message) => {
                let telling = tell(link.clone(), http.clone(), message);
                work.telling.spawn(telling);
            }
            DriverAction::Finish(events) => {
                work.finishing.spawn(finish(http.clone(), events));
            }
            DriverAction::Close => break,
        }
    }
    let told = async { while work.telling.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, told).await;
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, end_session(&link, &http)).await;
    link.end_as_lost();
}

/// The queues of the task.
struct DriverQueues {
    outbox: Outbox,
    /// Messages that are not sent yet.
    waiting: VecDeque<Bytes>,
    telling: JoinSet<()>,
    finishing: JoinSet<()>,
}

enum DriverAction {
    Tell(Bytes),
    Finish(Box<Events>),
    Close,
}

impl DriverQueues {
    async fn next(&mut self, leftovers: &mut mpsc::Receiver<Events>) -> DriverAction {
        poll_fn(|context| {
            while let Poll::Ready(Some(_)) = self.telling.poll_join_next(context) {}
            while let Poll::Ready(Some(_)) = self.finishing.poll_join_next(context) {}
            if self.finishing.len() < MAX_LEFTOVERS
                && let Poll::Ready(Some(events)) = leftovers.poll_recv(context)
            {
                return Poll::Ready(DriverAction::Finish(Box::new(events)));
            }
            self.poll_outbox(context)
        })
        .await
    }

    fn poll_outbox(&mut self, context: &mut Context<'_>) -> Poll<DriverAction> {
        loop {
            if self.telling.len() >= MAX_TELLING {
                return Poll::Pending;
            }
            if let Some(message) = self.waiting.pop_front() {
                return Poll::Ready(DriverAction::Tell(message));
            }
            let mut lines = Vec::new();
            if ready!(self.outbox.poll_lines(context, &mut lines)).is_none() {
                return Poll::Ready(DriverAction::Close);
            }
            let lines = lines.split(|byte| *byte == b'\n');
            let messages = lines.filter(|line| !line.is_empty());
            self.waiting.extend(messages.map(Bytes::copy_from_slice));
        }
    }
}

async fn tell(link: Arc<Link>, http: Arc<Http>, message: Bytes) {
    let session = http.sessions.current();
    let what = method_of(&message);
    let is_answer = what.is_none();
    let telling = tell_again(&http, &session, message, is_answer);
    let problem = match link.pending.within(TELL_TIMEOUT, telling).await {
        Some(Ok(())) => return,
        // transports: a 404 means that the session has expired.
        Some(Err(Fault::Status { status: 404, .. })) if is_answer && session.can_expire() => {
            let reason = "the server did not accept the answer to its own request";
            return link.session_lost(&http, &session, reason).await;
        }
        Some(Err(fault)) => fault
            .into_error(link.server().clone(), what.as_deref().unwrap_or("response"))
            .to_string(),
        None => format!("the server did not accept it within {TELL_TIMEOUT:?}"),
    };
    tracing::warn!(
        server = &**link.server(),
        problem,
        "could not deliver a response or a notification"
    );
}

/// Sends a message, and sends it again if no connection could be made. An answer is also sent again if
/// the connection was lost before the server accepted it: the server waits for the answer, and ignores
/// one that it already has. Notifications, for which no server waits, are tried three times, so that
/// they do not hold up answers.
async fn tell_again(
    http: &Http,
    session: &Session,
    message: Bytes,
    is_answer: bool,
) -> Result<(), Fault> {
    let mut pause = FIRST_PAUSE;
    let mut attempts = 0;
    loop {
        attempts += 1;
        let is_last = !is_answer && attempts == NOTIFICATION_ATTEMPTS;
        let fault = match http.tell(session, message.clone()).await {
            Err(TellError::Unreachable(fault)) if !is_last => fault,
            Err(TellError::Lost(fault)) if is_answer => fault,
            told => return told.map_err(TellError::into_fault),
        };
        tokio::time::sleep(pause + jitter(pause / 4)).await;
        // If the session has been replaced, the server does not wait for this message any more.
        if http.sessions.current().number != session.number {
            return Err(fault);
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The method of a notification; `None` for the answer to a request of the server.
fn method_of(message: &[u8]) -> Option<String> {
    match envelope::parse(message) {
        Ok(Frame::One(Message::Response(_))) => None,
        Ok(Frame::One(Message::Notification(told))) => Some(told.method.into_owned()),
        _ => Some("message".to_owned()),
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
