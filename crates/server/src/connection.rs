//! One connection that carries messages as lines: both eras, interleaved, and all that runs on it.

use std::sync::Arc;

use turnbuckle_protocol::{
    ErrorObject, Id, IdRef, Revision,
    envelope::{self, Frame, Malformed, Message, Notification, Request, UnreadableId},
};
use turnbuckle_session::in_flight::Ticket;
use turnbuckle_transport::{LineFault, Outbox, Receive};

use crate::{
    Caller, answer,
    cancel::CancelFlag,
    exchange::Step,
    handler::BoxFuture,
    method, oversized,
    peer::{Peer, Session},
    roots,
    running::{Owner, Running, unless},
    shared::Shared,
    sink::{Response, Sink, Wrote},
};

/// A connection, as its transport feeds it.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    peer: Arc<Peer>,
    outbox: Outbox,
    runtime: tokio::runtime::Handle,
    running: Running,
    session: Arc<Session>,
}

impl Connection {
    /// Must be called inside a runtime.
    pub(crate) fn new(shared: Arc<Shared>, caller: Caller, outbox: Outbox) -> Self {
        let runtime = tokio::runtime::Handle::current();
        let session = Arc::new(Session::new(shared.office.hub()));
        let peer = Arc::new(Peer::new(
            caller,
            outbox.clone(),
            Some(Arc::clone(&session)),
            CancelFlag::default(),
        ));
        Self {
            shared,
            peer,
            running: Running::new(Some(outbox.clone())),
            outbox,
            runtime,
            session,
        }
    }

    /// The owner of all that runs here: when it is dropped, so are they. The connection itself
    /// ends earlier, with the peer's last message, and late answers may still be wanted then.
    pub(crate) fn owner(&self) -> Owner {
        self.running.owner()
    }

    /// What comes from now on is of this caller: the same one, who may be allowed other things.
    #[cfg(feature = "http")]
    pub(crate) fn called_by(&mut self, caller: Caller) {
        self.peer = Arc::new(self.peer.with_caller(caller));
    }

    fn message(&mut self, message: Message<'_>) {
        match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) => self.notification(&notification),
            Message::Response(response) => self.peer.answer(&response),
        }
    }

    fn request(&self, request: Request<'_>) {
        let id = request.id.clone();
        let mut outbox = self.outbox.clone();
        if let Some(response) = self.serve(request, &mut outbox).later(&self.peer) {
            let id = id.into_owned();
            if let Err(error) = self.spawn_one(id.clone(), response) {
                outbox.put(|out| answer::write_error(Ok(&id.as_ref()), &error, out));
            }
        }
    }

    fn serve(&self, request: Request<'_>, out: &mut impl Sink) -> Step {
        if let Err(error) = self.running.check(&request) {
            out.put(|out| answer::write_error(Ok(&request.id), &error, out));
            return Step::Done;
        }
        method::serve(&self.shared, &self.peer, request, out)
    }

    /// Lets a call go on as a task that the connection owns.
    fn spawn_one(&self, id: Id, response: BoxFuture<Response>) -> Result<(), ErrorObject> {
        let (ticket, cancel) = self.running.begin(id)?;
        let outbox = self.outbox.clone();
        let running = self.running.clone();
        self.runtime.spawn(async move {
            let response = unless(&cancel, response).await;
            // Answers wait while the peer does not read. A peer that is gone needs none.
            let _ = unless(&cancel, Box::pin(outbox.ready())).await;
            running.answer(vec![(ticket, response)], |answers| {
                for answer in answers {
                    push(&outbox, &answer.into_message());
                }
            });
        });
        Ok(())
    }

    fn notification(&mut self, notification: &Notification<'_>) {
        match &*notification.method {
            "notifications/initialized" => {
                self.session.initialized(&self.outbox);
            }
            "notifications/cancelled" => {
                let id = notification.params.get("requestId");
                if let Some(id) = id.and_then(IdRef::from_raw) {
                    self.running.cancel(&id.into_owned());
                }
            }
            "notifications/roots/list_changed" => {
                if let Some(hook) = &self.shared.on_roots_changed {
                    let _inside = self.runtime.enter();
                    roots::changed(hook, Arc::clone(&self.peer));
                }
            }
            method => {
                let (extensions, caller) = (&self.shared.extensions, self.peer.caller());
                // cancellation, progress, roots: unknown or late notifications are ignored.
                if !extensions.notify(method, &notification.params, caller) {
                    tracing::debug!(method, "a notification was ignored");
                }
            }
        }
    }

    /// batches: 2025-03-26 sessions take them, nobody else does.
    fn batch(&mut self, members: Vec<Result<Message<'_>, Malformed<'_>>>) {
        let session = self.peer.session_revision();
        if !session.is_some_and(|revision| revision.rules().batches) {
            let error = ErrorObject::invalid_request(
                "batches exist only in sessions of 2025-03-26: send the messages one by one",
            );
            return self.answer_unreadable(&error);
        }
        let mut ready = Vec::new();
        let mut begun = Vec::new();
        for member in members {
            let mut answer = Response::default();
            match member {
                Ok(Message::Request(request)) => begun.extend(self.member(request, &mut answer)),
                Ok(other) => self.message(other),
                Err(malformed) => self.answer_malformed(&malformed, &mut answer),
            }
            if !answer.is_empty() {
                ready.push(answer.into_message());
            }
        }
        if begun.is_empty() {
            return push(&self.outbox, &array(&ready));
        }
        self.spawn_batch(ready, begun);
    }

    /// One request of a batch: it is answered at once, or it has begun.
    fn member(&self, request: Request<'_>, answer: &mut Response) -> Option<Begun> {
        let id = request.id.clone().into_owned();
        let alone = request.method == "initialize" || method::is_modern(&request);
        let refused = if alone {
            let method = &request.method;
            ErrorObject::invalid_request(format!("this `{method}` cannot be part of a batch"))
        } else {
            let response = self.serve(request, answer).later(&self.peer)?;
            match self.running.begin(id.clone()) {
                Ok((ticket, cancel)) => return Some((ticket, cancel, response)),
                Err(error) => error,
            }
        };
        answer.put(|out| answer::write_error(Ok(&id.as_ref()), &refused, out));
        None
    }

    fn spawn_batch(&self, mut answers: Vec<Vec<u8>>, begun: Vec<Begun>) {
        let outbox = self.outbox.clone();
        let running = self.running.clone();
        let runtime = self.runtime.clone();
        self.runtime.spawn(async move {
            // Each in a task of its own, so that they run side by side; joined here in order.
            let tasks: Vec<_> = begun
                .into_iter()
                .map(|(ticket, cancel, response)| {
                    let task = runtime.spawn(async move { unless(&cancel, response).await });
                    (ticket, task)
                })
                .collect();
            let mut done = Vec::new();
            for (ticket, task) in tasks {
                done.push((ticket, task.await.ok().flatten()));
            }
            // A peer that is gone needs no answer.
            let _ = outbox.ready().await;
            running.answer(done, |late| {
                answers.extend(late.into_iter().map(Response::into_message));
                push(&outbox, &array(&answers));
            });
        });
    }

    fn answer_malformed(&self, malformed: &Malformed<'_>, out: &mut impl Sink) {
        tracing::debug!(reason = malformed.message, "a malformed message came in");
        let Some(code) = malformed.kind.code() else {
            return;
        };
        let error = ErrorObject::new(code, malformed.message.as_str());
        let id = malformed.id.as_ref().ok_or(self.unreadable());
        out.put(|out| answer::write_error(id, &error, out));
    }

    fn answer_unreadable(&self, error: &ErrorObject) {
        let unreadable = self.unreadable();
        self.outbox
            .clone()
            .put(|out| answer::write_error(Err(unreadable), error, out));
    }

    /// How this peer wants to hear of a message whose id nobody could read.
    fn unreadable(&self) -> UnreadableId {
        let revision = self.peer.session_revision().unwrap_or(Revision::LATEST);
        revision.rules().unreadable_id
    }
}

impl Receive for Connection {
    fn receive(&mut self, message: &[u8]) {
        match envelope::parse(message) {
            Ok(Frame::One(message)) => self.message(message),
            Ok(Frame::Batch(members)) => self.batch(members),
            Err(malformed) => {
                self.answer_malformed(&malformed, &mut self.outbox.clone());
            }
        }
    }

    fn receive_fault(&mut self, fault: LineFault<'_>) {
        match fault {
            // A peer that only left out the last line end has sent a whole message.
            LineFault::Unterminated { rest } => self.receive(rest),
            fault => {
                let error = ErrorObject::invalid_request(fault.to_string());
                let id = match &fault {
                    LineFault::TooLong { head, .. } => oversized::id_of(head),
                    _ => None,
                };
                let id = id.as_ref().ok_or(self.unreadable());
                let mut outbox = self.outbox.clone();
                outbox.put(|out| answer::write_error(id, &error, out));
            }
        }
    }

    fn closed(&mut self) {
        // Subscriptions would otherwise be open for ever, and the connection with them.
        self.peer.end_input();
        self.running.close_when_idle();
    }
}

/// A request of a batch that is answered later.
type Begun = (Ticket, CancelFlag, BoxFuture<Response>);

fn push(outbox: &Outbox, message: &[u8]) {
    outbox.clone().put(|out| {
        out.extend_from_slice(message);
        Wrote::Result
    });
}

fn array(answers: &[Vec<u8>]) -> Vec<u8> {
    if answers.is_empty() {
        return Vec::new();
    }
    let mut message = vec![b'['];
    message.extend_from_slice(&answers.join(&b','));
    message.push(b']');
    message
}
