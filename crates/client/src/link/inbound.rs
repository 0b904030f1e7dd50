//! Incoming messages of the server: answers go to their calls, notifications to listeners, and requests
//! to the handlers.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use serde::de::DeserializeOwned;
#[cfg(feature = "http")]
use tokio::time::Instant;
use tokio::time::Sleep;
use turnbuckle_protocol::{
    CancelledNotificationParams, ElicitationCompleteNotificationParams, Id,
    ProgressNotificationParams,
    envelope::{self, Frame, IdRef, Malformed, MalformedKind, Message, Notification, Response},
    lenient,
};
use turnbuckle_transport::{LineFault, Receive};

use super::{Link, serving::Serving};
#[cfg(feature = "http")]
use crate::http::ReceiveFrom;
use crate::{
    notifications::ServerNotification,
    pending::{RequestOutcome, SlotSender},
    relayed::RelayEvent,
    tap::Direction,
    unneeded::Unneeded,
};

/// How many bytes of a line that is not a message are logged.
const LOGGED_NOISE_BYTES: usize = 200;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The size limit, in bytes, for params of a notification that are read again without their invalid
/// members.
const MAX_MENDED_BYTES: usize = 64 * 1024;

/// The receiver of one connection.
pub(crate) struct Inbound {
    link: Arc<Link>,
    serving: Serving,
    unneeded: Unneeded,
    /// While this is set, nothing is read.
    wait: Option<Pin<Box<Sleep>>>,
}

impl Inbound {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self {
            serving: Serving::new(link.clone()),
            link,
            unneeded: Unneeded::default(),
            wait: None,
        }
    }

    fn take(&mut self, message: Message<'_>, call: Option<&Id>) {
        match message {
            Message::Response(response) => self.take_response(&response),
            Message::Notification(notification) => self.take_notification(&notification, call),
            Message::Request(request) => self.serving.serve(&request, call),
        }
    }

    fn take_response(&mut self, response: &Response<'_>) {
        let filler = response.id.as_ref().and_then(|id| self.complete(id));
        let Some(filler) = filler else {
            // cancellation: an answer to a cancelled request is ignored.
            self.link.pending.note_stray();
            let (Ok(body) | Err(body)) = &response.outcome;
            self.unneeded.count(body.value().get().len());
            return;
        };
        filler.fill(match response.outcome {
            Ok(result) => RequestOutcome::Result(result.value().to_owned()),
            Err(error) => RequestOutcome::Error(error.value().to_owned()),
        });
    }

    /// Finds the request of an answer. Some servers return the id, which is a number, as a string.
    fn complete(&self, id: &IdRef<'_>) -> Option<SlotSender> {
        let pending = &self.link.pending;
        pending.complete(id).or_else(|| match id {
            IdRef::Text(text) => pending.complete(&IdRef::Int(text.parse().ok()?)),
            _ => None,
        })
    }

    fn take_notification(&mut self, notification: &Notification<'_>, call: Option<&Id>) {
        match &*notification.method {
            "notifications/progress" => {
                if let Some(report) = self.params_of(notification) {
                    self.take_progress(report, notification);
                }
            }
            "notifications/cancelled" => {
                if let Some(cancelled) = self.params_of::<CancelledNotificationParams>(notification)
                    && !self.link.changes.dismiss(&cancelled)
                    && let Some(id) = &cancelled.request_id
                {
                    let (server, reason) = (&**self.link.server(), cancelled.reason.as_deref());
                    tracing::debug!(server, %id, reason, "the server withdrew a question");
                    self.serving.cancel(id);
                }
            }
            "notifications/elicitation/complete" => {
                self.relay(notification, call);
                // elicitation: a client MUST ignore ids that it does not know, and ids of elicitations
                // that have ended.
                if let Ok(ended) = notification
                    .params
                    .parse::<ElicitationCompleteNotificationParams>()
                    && let Some(peer) = self.link.peer()
                    && peer.visits().end(&ended.elicitation_id)
                {
                    let id = ended.elicitation_id.into();
                    self.publish(&ServerNotification::Visited { id });
                }
            }
            method @ "notifications/subscriptions/acknowledged" => {
                self.relay(notification, call);
                self.publish(&ServerNotification::read(method, &notification.params));
                // subscriptions: the server keeps no state between two streams, so changes may have
                // been missed.
                let forget = || self.link.cache.forget_unheard();
                self.link.changes.acknowledge(&notification.params, forget);
            }
            method => {
                let belongs_to_call = self.relay(notification, call);
                let news = ServerNotification::read(method, &notification.params);
                // The server's log may be read at full speed, unless it is relayed.
                let is_own_log = matches!(news, ServerNotification::Log(_))
                    && self.link.profile().relay.is_none();
                if !belongs_to_call && !is_own_log {
                    let params = notification.params.raw();
                    self.unneeded
                        .count(params.map_or(0, |params| params.value().get().len()));
                }
                // Remove outdated results from the cache before listeners are notified.
                self.publish(&news);
                self.link.changes.hear(&news, &notification.params);
            }
        }
    }

    /// Parses the params of a notification, without members that are invalid. A server that sends many
    /// such notifications is read more slowly.
    fn params_of<T: DeserializeOwned>(&mut self, notification: &Notification<'_>) -> Option<T> {
        let Notification { method, params, .. } = notification;
        if let Ok(params) = params.parse() {
            return Some(params);
        }
        let text = params.to_raw();
        self.unneeded.count(text.get().len());
        if text.get().len() > MAX_MENDED_BYTES {
            return None;
        }
        lenient::mend(method, text.get()).map(|(params, _)| params)
    }

    fn take_progress(
        &mut self,
        report: ProgressNotificationParams,
        notification: &Notification<'_>,
    ) {
        let relayed = match self.link.profile().relay {
            Some(_) => self.link.relays.of(&report.progress_token.0),
            None => None,
        };
        let is_news = self.link.pending.progress(report);
        if !is_news {
            self.unneeded.count(0);
        }
        if let Some(relayed) = relayed.filter(|_| is_news)
            && let Some(params) = notification.params.raw()
        {
            let params = params.value().to_owned();
            relayed.queue.push(RelayEvent::Progress(params));
        }
    }

    /// If this client relays, passes a notification on to the call that it belongs to, or else to the
    /// sink. Returns whether it belongs to a call.
    fn relay(&self, notification: &Notification<'_>, call: Option<&Id>) -> bool {
        let Some(relay) = &self.link.profile().relay else {
            return false;
        };
        let params = notification
            .params
            .raw()
            .map(|params| params.value().to_owned());
        if let Some(call) = self.link.relayed_call_of(notification, call) {
            let method = notification.method.as_ref().into();
            call.queue.push(RelayEvent::Notification(method, params));
            return true;
        }
        relay
            .sink
            .notification(&notification.method, params.as_deref());
        false
    }

    fn publish(&self, news: &ServerNotification) {
        if matches!(news, ServerNotification::ToolsChanged) {
            self.link.tools.forget();
        }
        self.link.cache.forget_changed(news);
        if let Some(listener) = &self.link.profile().listener {
            listener(news);
        }
        if let (ServerNotification::Log(message), Some(listener)) =
            (news, &self.link.profile().log_listener)
        {
            listener(self.link.server(), message);
        }
        self.link.feed.publish(news);
    }

    fn ignore(&mut self, line: &[u8], reason: &str) {
        self.unneeded.count(line.len());
        let line = String::from_utf8_lossy(&line[..line.len().min(LOGGED_NOISE_BYTES)]);
        tracing::debug!(server = &**self.link.server(), %line, reason, "ignored a line that is not a message");
    }
}

impl Inbound {
    /// Fails a request if its answer cannot be parsed, so that it does not wait for its deadline. Other
    /// malformed lines are ignored: some servers print banners and warnings to standard output, which
    /// is wrong, but common.
    fn take_malformed(&mut self, message: &[u8], malformed: &Malformed<'_>) {
        let filler = match (&malformed.kind, &malformed.id) {
            (MalformedKind::NoAnswer | MalformedKind::NoOutcome, Some(id)) => self.complete(id),
            (MalformedKind::NotJson, _) => {
                envelope::id_of_broken_answer(message).and_then(|id| self.complete(&id.as_ref()))
            }
            _ => None,
        };
        match filler {
            Some(filler) => {
                filler.fill(RequestOutcome::Malformed(malformed.message.as_str().into()));
            }
            None => self.ignore(message, &malformed.message),
        }
    }

    fn take_message(&mut self, message: &[u8], call: Option<&Id>) {
        self.link.ends.show(Direction::In, message);
        self.read_message(message, call);
    }

    fn read_message(&mut self, message: &[u8], call: Option<&Id>) {
        let limits = &self.link.profile().settings.limits;
        let max_nodes = limits.nodes_of(message.len());
        match envelope::parse_within(message, max_nodes) {
            Ok((Frame::One(one), _)) => {
                self.take(one, call);
            }
            Ok((Frame::Batch(members), _)) => {
                for member in members {
                    match member {
                        Ok(one) => self.take(one, call),
                        Err(malformed) => self.take_malformed(message, &malformed),
                    }
                }
            }
            Err(malformed) if malformed.kind == MalformedKind::TooManyNodes => {
                let id = malformed.id.as_ref();
                match id.and_then(|id| self.link.pending.complete(id)) {
                    Some(filler) => filler.fill(RequestOutcome::TooManyNodes(max_nodes)),
                    None => self.ignore(message, &malformed.message),
                }
            }
            Err(malformed) => match without_mark(message) {
                Some(message) => self.read_message(message, call),
                None => self.take_malformed(message, &malformed),
            },
        }
    }
}

/// Whether a last line without a line end is an incomplete message.
fn is_torn(rest: &[u8]) -> bool {
    let rest = without_mark(rest).unwrap_or(rest);
    matches!(envelope::parse(rest), Err(malformed) if malformed.kind == MalformedKind::NotJson)
}

/// Returns a message without the byte order mark that some libraries write before it; `None` without
/// such a mark.
fn without_mark(mut message: &[u8]) -> Option<&[u8]> {
    let length = message.len();
    while let Some(rest) = message.strip_prefix(BYTE_ORDER_MARK) {
        message = rest;
    }
    (message.len() < length).then_some(message)
}

#[cfg(feature = "http")]
impl ReceiveFrom for Inbound {
    fn receive_from(&mut self, message: &[u8], call: Option<&Id>) {
        self.take_message(message, call);
    }

    fn receive_parsed(&mut self, parsed: Message<'_>, message: &[u8], call: Option<&Id>) {
        self.link.ends.show(Direction::In, message);
        self.take(parsed, call);
    }

    fn take_wait(&mut self) -> Option<Instant> {
        self.unneeded.take_wait()
    }

    fn session_replaced(&mut self) {
        self.serving.withdraw_all();
    }
}

impl Receive for Inbound {
    fn receive(&mut self, message: &[u8]) {
        self.take_message(message, None);
    }

    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(until) = self.unneeded.take_wait() {
            self.wait = Some(Box::pin(tokio::time::sleep_until(until)));
        }
        if let Some(wait) = &mut self.wait {
            if wait.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.wait = None;
        }
        Poll::Ready(())
    }

    fn receive_fault(&mut self, fault: LineFault<'_>) {
        match fault {
            LineFault::TooLong { head, limit } => {
                let filler =
                    envelope::id_of_broken_answer(head).and_then(|id| self.complete(&id.as_ref()));
                match filler {
                    Some(filler) => filler.fill(RequestOutcome::Oversized(limit)),
                    None => self.ignore(head, "the line is longer than the limit"),
                }
            }
            // The server exited while it wrote. The call fails because the connection is lost, not
            // because of an invalid answer.
            LineFault::Unterminated { rest } if is_torn(rest) => {
                self.link.ends.show(Direction::In, rest);
                self.ignore(rest, "the connection ended in the middle of the line");
            }
            LineFault::Unterminated { rest } => self.receive(rest),
            fault => {
                self.unneeded.count(0);
                tracing::debug!(server = &**self.link.server(), %fault, "ignored a line");
            }
        }
    }

    fn closed(&mut self) {
        // The server has closed its output, so it cannot answer anything that would be sent now.
        self.link.wire.close();
    }
}
