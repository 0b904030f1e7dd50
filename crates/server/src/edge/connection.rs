//! One connection on a line transport, with requests of both eras.

use std::{
    future::Future as _,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{runtime::Handle, time::Sleep};
use turnbuckle_protocol::{
    ErrorObject, IdRef,
    envelope::{self, Frame, Malformed, Message, Request, UnreadableId},
};
use turnbuckle_transport::{LineFault, Outbox, Receive};

use super::{
    batch::{self, Batch, BatchContext},
    notification, oversized,
    running::{Begun, Owner, RunningRequests},
};
use crate::{
    Caller,
    client::{
        CancelFlag, Peer, Session,
        keep_alive::{self, Reach},
    },
    engine::{
        Response, Served, Shared, Sink, answer,
        budget::{Charge, OverBudget},
        method,
        unsent::Unsent,
    },
    quota::{CallerKey, CountedCaller},
};

/// 5 s: how long the server stops reading from a peer for lack of memory. Then it reads again,
/// because an answer may arrive that other calls wait for; large messages are rejected.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// A connection, to which its transport passes messages.
#[derive(Clone)]
pub(crate) struct Connection {
    shared: Arc<Shared>,
    peer: Arc<Peer>,
    outbox: Outbox,
    runtime: Handle,
    running: RunningRequests,
    pace: Pace,
    /// The caller against whose budget incoming messages count.
    payer: CallerKey,
    carrier: Carrier,
}

/// The transport that carries the lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    /// Stdio, or any other pair of streams.
    Pipe,
    /// A stream of HTTP+SSE, and posts to it.
    #[cfg(feature = "http")]
    Http,
}

/// Whether the server reads from the peer.
#[derive(Default)]
enum Pace {
    /// It reads everything.
    #[default]
    Open,
    /// There is currently no memory for another message.
    Full(Pin<Box<Sleep>>),
    /// There has been no memory for so long that it reads again.
    Overdrawn,
}

impl Clone for Pace {
    fn clone(&self) -> Self {
        Self::Open
    }
}

impl Connection {
    /// Creates a connection. Must be called inside a runtime.
    pub(crate) fn new(shared: Arc<Shared>, caller: Caller, outbox: Outbox) -> Self {
        let payer = CallerKey::of(&caller);
        let counted = caller.id().map(|_| payer.into());
        Self::of(shared, caller, outbox, payer, counted)
    }

    /// Creates a connection whose messages count against the budget of `payer`, and whose requests
    /// count against the rates of `counted`. Must be called inside a runtime.
    pub(crate) fn of(
        shared: Arc<Shared>,
        caller: Caller,
        outbox: Outbox,
        payer: CallerKey,
        counted: Option<CountedCaller>,
    ) -> Self {
        let session = Session::new(shared.context.changes.hub(), payer)
            .with_notices(shared.notices_of(&caller));
        let session = Some(Arc::new(session));
        let peer = Peer::new(caller, outbox.clone(), session, CancelFlag::default());
        let peer = peer.counted(counted);
        Self {
            shared,
            peer: Arc::new(peer),
            running: RunningRequests::new(Some(outbox.clone())),
            outbox,
            runtime: Handle::current(),
            pace: Pace::Open,
            payer,
            carrier: Carrier::Pipe,
        }
    }

    /// Marks that the lines are sent over HTTP.
    #[cfg(feature = "http")]
    pub(crate) fn over_http(mut self) -> Self {
        self.carrier = Carrier::Http;
        self
    }

    /// Pings the client from now on, if the settings require that.
    fn keep_alive(&self) {
        let pings = self.shared.settings.keep_alive;
        let pings = pings.filter(|pings| pings.on_pipes || self.carrier != Carrier::Pipe);
        let Some(pings) = pings.filter(|_| self.peer.begin_pings()) else {
            return;
        };
        let (peer, outbox) = (Arc::clone(&self.peer), self.outbox.clone());
        // This task ends with the connection, which closes its outbox.
        self.runtime.spawn(async move {
            if keep_alive::has_failed(peer, pings, || Reach::Listening).await {
                outbox.close();
            }
        });
    }

    /// Returns the owner of everything that runs on this connection. Dropping the owner ends it.
    /// The connection itself ends earlier, with the peer's last message, when late answers may
    /// still be wanted.
    pub(crate) fn owner(&self) -> Owner {
        self.running.owner()
    }

    /// Sets the caller of the following messages: the same caller, maybe with other permissions.
    #[cfg(feature = "http")]
    pub(crate) fn called_by(&mut self, caller: Caller) {
        self.peer = Arc::new(self.peer.with_caller(caller));
    }

    /// Handles a message. `paid` is the part of the budget that was taken while it arrived.
    pub(crate) fn receive_paid(&self, message: &[u8], paid: Option<Charge>) {
        let limits = &self.shared.settings.limits;
        let parsed = envelope::parse_within(message, limits.nodes_of(message.len()));
        let (frame, nodes) = match parsed {
            Ok(parsed) => parsed,
            Err(malformed) => {
                if self.peer.unreadable(&malformed, message) {
                    return;
                }
                let unreadable = batch::unreadable(&self.peer);
                return batch::refuse_malformed(&malformed, unreadable, &mut self.outbox.clone());
            }
        };
        let budget = &self.shared.allowances.budget;
        let charge = budget.message(paid, message.len(), nodes, || self.payer);
        match (frame, charge) {
            (Frame::One(message), Ok(charge)) => self.message(message, charge),
            (Frame::Batch(members), Ok(charge)) => self.batch(members, charge),
            (Frame::One(Message::Request(request)), Err(over)) => {
                self.refuse(Ok(&request.id), over);
            }
            (Frame::Batch(_), Err(over)) => self.refuse(Err(batch::unreadable(&self.peer)), over),
            // Responses are never rejected, because other calls wait for them.
            (Frame::One(Message::Response(response)), Err(_)) => {
                self.peer.answer(&response);
            }
            (Frame::One(Message::Notification(_)), Err(over)) => {
                tracing::warn!(%over, "a notification was dropped");
            }
        }
    }

    fn refuse(&self, id: Result<&IdRef<'_>, UnreadableId>, over: OverBudget) {
        let error = ErrorObject::internal(over.to_string());
        let mut outbox = self.outbox.clone();
        outbox.put(|out| answer::write_error(id, &error, out));
    }

    fn message(&self, message: Message<'_>, charge: Charge) {
        match message {
            Message::Request(request) => self.request(&request, charge),
            Message::Notification(notification) => {
                let _inside = self.runtime.enter();
                notification::take(&self.shared, &self.peer, &self.running, &notification);
                if notification.method == "notifications/initialized" {
                    self.keep_alive();
                }
            }
            Message::Response(response) => {
                self.peer.answer(&response);
            }
        }
    }

    fn request(&self, request: &Request<'_>, charge: Charge) {
        let mut outbox = self.outbox.clone();
        let unsent = self.unsent();
        let served = match &unsent {
            None => self.serve(request, &mut outbox),
            Some(unsent) => {
                let mut response = Response::default();
                let served = self.serve(request, &mut response);
                if !response.is_empty() {
                    unsent.pay(response, &request.id).push_to(&outbox);
                }
                served
            }
        };
        let Some(response) = served.later(&self.peer) else {
            return;
        };
        // The number of small messages is limited, so nothing is held for them after parsing.
        let response = if charge.is_small() {
            response
        } else {
            charge.hold(response)
        };
        match self
            .running
            .begin(request.id.clone().into_owned(), response)
        {
            Ok(begun) => drop(self.running.run(&self.runtime, begun, outbox, unsent)),
            Err(error) => outbox.put(|out| answer::write_error(Ok(&request.id), &error, out)),
        }
    }

    /// Only answers over HTTP count against a quota. A client on a pipe is the only client of this
    /// process.
    fn unsent(&self) -> Option<Unsent> {
        match self.carrier {
            Carrier::Pipe => None,
            #[cfg(feature = "http")]
            Carrier::Http => Some(Unsent::of(&self.shared, self.payer)),
        }
    }

    fn serve(&self, request: &Request<'_>, out: &mut impl Sink) -> Served {
        if let Err(error) = self.running.check(request) {
            out.put(|out| answer::write_error(Ok(&request.id), &error, out));
            return Served::Done;
        }
        method::serve_on_line(&self.shared, &self.peer, request, out)
    }

    fn batch(&self, members: Vec<Result<Message<'_>, Malformed<'_>>>, charge: Charge) {
        if !batch::is_known(&self.peer) {
            let error = ErrorObject::invalid_request(batch::UNKNOWN);
            let unreadable = batch::unreadable(&self.peer);
            let mut outbox = self.outbox.clone();
            return outbox.put(|out| answer::write_error(Err(unreadable), &error, out));
        }
        let _inside = self.runtime.enter();
        let unsent = self.unsent();
        let here = BatchContext {
            shared: &self.shared,
            session: &self.peer,
            peer: &self.peer,
            running: &self.running,
            unsent: unsent.as_ref(),
        };
        let batch = here.serve(members);
        if batch.is_initialized {
            self.keep_alive();
        }
        if batch.begun.is_empty() {
            batch::push_array(batch.ready, &self.outbox);
        } else {
            self.spawn_batch(batch, charge);
        }
    }

    /// Answers all requests of a batch with one message, when the last of them is ready.
    fn spawn_batch(&self, batch: Batch, charge: Charge) {
        let Batch {
            mut ready, begun, ..
        } = batch;
        let (outbox, running) = (self.outbox.clone(), self.running.clone());
        let (runtime, unsent) = (self.runtime.clone(), self.unsent());
        self.runtime.spawn(async move {
            // Each request runs in a task of its own, so that they run concurrently; here they are
            // joined in order.
            let spawn = |begun: Begun| {
                let (ticket, response) = begun.into_parts(unsent.clone());
                (ticket, runtime.spawn(response))
            };
            let tasks: Vec<_> = begun.into_iter().map(spawn).collect();
            let mut done = Vec::new();
            for (ticket, task) in tasks {
                done.push((ticket, task.await.ok().flatten()));
            }
            drop(charge);
            // Nothing to do if the client has disconnected.
            let _ = outbox.ready().await;
            running.answer(done, |late| {
                ready.extend(late);
                batch::push_array(ready, &outbox);
            });
        });
    }
}

#[cfg(feature = "http")]
impl Connection {
    /// Begins to shut down: running requests finish, and no further messages are handled.
    pub(crate) fn begin_shutdown(&self) {
        self.peer.shut_down();
        self.running.close_when_idle();
    }
}

impl Receive for Connection {
    fn receive(&mut self, message: &[u8]) {
        self.receive_paid(message, None);
    }

    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let (shared, wanted) = (&self.shared, self.shared.settings.limits.max_message_bytes);
        if shared
            .allowances
            .budget
            .poll_room(self.payer, wanted, context)
            .is_ready()
        {
            self.pace = Pace::Open;
            return Poll::Ready(());
        }
        loop {
            match &mut self.pace {
                Pace::Overdrawn => return Poll::Ready(()),
                Pace::Open => {
                    self.pace = Pace::Full(Box::pin(tokio::time::sleep(READ_AGAIN_AFTER)));
                }
                Pace::Full(pause) => {
                    ready!(pause.as_mut().poll(context));
                    self.pace = Pace::Overdrawn;
                }
            }
        }
    }

    fn receive_fault(&mut self, fault: LineFault<'_>) {
        match fault {
            // The peer sent a complete message without a line end.
            LineFault::Unterminated { rest } => self.receive(rest),
            LineFault::TooLong { head, .. }
                if envelope::id_of_broken_answer(head)
                    .is_some_and(|id| self.peer.unanswered(&id, &fault.to_string())) => {}
            fault => {
                let error = ErrorObject::invalid_request(fault.to_string());
                let id = match &fault {
                    LineFault::TooLong { head, .. } => oversized::id_of(head),
                    _ => None,
                };
                let id = id.as_ref().ok_or(batch::unreadable(&self.peer));
                let mut outbox = self.outbox.clone();
                outbox.put(|out| answer::write_error(id, &error, out));
            }
        }
    }

    fn closed(&mut self) {
        // Otherwise subscriptions would keep the connection open forever.
        self.peer.end_input();
        self.running.close_when_idle();
    }
}
