//! Sends the notifications of a connection, and its answers to requests of the server: a POST for each.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use tokio::task::JoinSet;
use turnbuckle_protocol::envelope::{self, Frame, Message};
use turnbuckle_transport::Outbox;

use crate::{
    http::{Fault, Http, Session, TellError, jitter},
    link::Link,
};

/// How many answers are being sent at once.
const MAX_ANSWERS: usize = 16;

/// How many notifications are being sent at once. They have a limit of their own, because answers that
/// cannot be delivered take long.
const MAX_NOTIFICATIONS: usize = 8;

/// How many answers, and how many notifications, may wait to be sent before no more are taken from the
/// outbox. A server may ask 64 questions at once, so that notifications are found behind the answers.
const MAX_WAITING: usize = 64;

/// How long a server may take to accept an answer or a notification. A server under load takes seconds.
const TELL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long to wait before a message that did not arrive is sent again: the first and the longest
/// pause.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often a notification is sent if no connection can be made.
const NOTIFICATION_ATTEMPTS: u32 = 3;

/// The messages of a connection that are not requests, from its outbox to the server.
pub(super) struct Telling {
    outbox: Outbox,
    answers: Lane,
    notifications: Lane,
}

/// Messages of one kind: those that wait, and those that are being sent.
struct Lane {
    limit: usize,
    waiting: VecDeque<OutgoingMessage>,
    sending: JoinSet<()>,
}

/// A message that is not a request.
pub(super) struct OutgoingMessage {
    text: Bytes,
    /// The method of a notification; `None` for the answer to a request of the server.
    method: Option<String>,
}

impl Telling {
    pub(super) fn new(outbox: Outbox) -> Self {
        Self {
            outbox,
            answers: Lane::new(MAX_ANSWERS),
            notifications: Lane::new(MAX_NOTIFICATIONS),
        }
    }

    /// Polls for the next message that may be sent now. Returns `None` when the outbox is closed and
    /// was emptied.
    pub(super) fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        loop {
            if let Some(message) = self.next(context) {
                return Poll::Ready(Some(message));
            }
            if self.answers.is_crowded() || self.notifications.is_crowded() {
                return Poll::Pending;
            }
            let mut lines = Vec::new();
            if ready!(self.outbox.poll_lines(context, &mut lines)).is_none() {
                return Poll::Ready(None);
            }
            self.sort(&lines);
        }
    }

    /// Begins to send a message.
    pub(super) fn send(&mut self, link: &Arc<Link>, http: &Arc<Http>, message: OutgoingMessage) {
        let lane = self.lane_of(&message);
        lane.sending
            .spawn(tell(link.clone(), http.clone(), message));
    }

    /// Sends the messages that are left, within this time. The outbox must be closed.
    pub(super) async fn finish(&mut self, link: &Arc<Link>, http: &Arc<Http>, time: Duration) {
        let sent = async {
            while let Some(message) = poll_fn(|context| self.poll_rest(context)).await {
                self.send(link, http, message);
            }
        };
        if tokio::time::timeout(time, sent).await.is_err() {
            let undelivered = self.answers.len() + self.notifications.len();
            tracing::warn!(
                server = &**link.server(),
                undelivered,
                "closed the connection before all responses and notifications were delivered"
            );
        }
    }

    /// Polls for the next of the messages that are left. Returns `None` when all have been sent.
    fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<Option<OutgoingMessage>> {
        let mut lines = Vec::new();
        while let Poll::Ready(Some(())) = self.outbox.poll_lines(context, &mut lines) {}
        self.sort(&lines);
        match self.next(context) {
            None if self.answers.len() + self.notifications.len() > 0 => Poll::Pending,
            next => Poll::Ready(next),
        }
    }

    /// Returns the next message that may be sent now. Notifications come first, because a report of
    /// progress is of no use after the answer that it belongs to.
    fn next(&mut self, context: &mut Context<'_>) -> Option<OutgoingMessage> {
        let notification = self.notifications.next(context);
        notification.or_else(|| self.answers.next(context))
    }

    fn sort(&mut self, lines: &[u8]) {
        let lines = lines.split(|byte| *byte == b'\n');
        for line in lines.filter(|line| !line.is_empty()) {
            let message = OutgoingMessage {
                text: Bytes::copy_from_slice(line),
                method: method_of(line),
            };
            self.lane_of(&message).waiting.push_back(message);
        }
    }

    fn lane_of(&mut self, message: &OutgoingMessage) -> &mut Lane {
        match message.method {
            None => &mut self.answers,
            Some(_) => &mut self.notifications,
        }
    }
}

impl Lane {
    fn new(limit: usize) -> Self {
        Self {
            limit,
            waiting: VecDeque::new(),
            sending: JoinSet::new(),
        }
    }

    /// Returns the next message if it may be sent now. Otherwise the task is woken when that changes.
    fn next(&mut self, context: &mut Context<'_>) -> Option<OutgoingMessage> {
        while let Poll::Ready(Some(_)) = self.sending.poll_join_next(context) {}
        if self.sending.len() < self.limit {
            self.waiting.pop_front()
        } else {
            None
        }
    }

    fn is_crowded(&self) -> bool {
        self.waiting.len() >= MAX_WAITING
    }

    fn len(&self) -> usize {
        self.waiting.len() + self.sending.len()
    }
}

async fn tell(link: Arc<Link>, http: Arc<Http>, message: OutgoingMessage) {
    let session = http.sessions.current();
    let OutgoingMessage { text, method } = message;
    let is_answer = method.is_none();
    let telling = tell_again(&http, &session, text, is_answer);
    let problem = match link.pending.within(TELL_TIMEOUT, telling).await {
        Some(Ok(())) => return,
        // transports: a 404 means that the session has expired.
        Some(Err(Fault::Status { status: 404, .. })) if is_answer && session.can_expire() => {
            let reason = "the server did not accept the answer to its own request";
            return link.session_lost(&http, &session, reason).await;
        }
        Some(Err(fault)) => fault
            .into_error(
                link.server().clone(),
                method.as_deref().unwrap_or("response"),
            )
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
/// they do not hold up other ones.
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
