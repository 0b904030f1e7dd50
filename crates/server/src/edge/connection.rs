//! One connection that carries messages as lines: both eras, interleaved, and all that runs on it.

use std::sync::Arc;

use tokio::runtime::Handle;
use turnbuckle_protocol::{
    ErrorObject,
    envelope::{self, Frame, Malformed, Message, Request},
};
use turnbuckle_transport::{LineFault, Outbox, Receive};

use super::{
    batch::{self, Batch, BatchContext},
    notification, oversized,
    running::{Owner, RunningRequests, unless},
};
use crate::{
    Caller,
    client::{CancelFlag, Peer, Session},
    engine::{Response, Served, Shared, Sink, answer, method},
};

/// A connection, as its transport feeds it.
pub(crate) struct Connection {
    shared: Arc<Shared>,
    peer: Arc<Peer>,
    outbox: Outbox,
    runtime: Handle,
    running: RunningRequests,
}

impl Connection {
    /// Must be called inside a runtime.
    pub(crate) fn new(shared: Arc<Shared>, caller: Caller, outbox: Outbox) -> Self {
        let session = Session::new(shared.context.changes.hub());
        let peer = Peer::new(
            caller,
            outbox.clone(),
            Some(Arc::new(session)),
            CancelFlag::default(),
        );
        Self {
            shared,
            peer: Arc::new(peer),
            running: RunningRequests::new(Some(outbox.clone())),
            outbox,
            runtime: Handle::current(),
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

    fn message(&self, message: Message<'_>) {
        match message {
            Message::Request(request) => self.request(&request),
            Message::Notification(notification) => {
                let _inside = self.runtime.enter();
                notification::take(&self.shared, &self.peer, &self.running, &notification);
            }
            Message::Response(response) => self.peer.answer(&response),
        }
    }

    fn request(&self, request: &Request<'_>) {
        let mut outbox = self.outbox.clone();
        let Some(response) = self.serve(request, &mut outbox).later(&self.peer) else {
            return;
        };
        match self
            .running
            .begin(request.id.clone().into_owned(), response)
        {
            Ok(begun) => drop(self.running.run(&self.runtime, begun, outbox)),
            Err(error) => outbox.put(|out| answer::write_error(Ok(&request.id), &error, out)),
        }
    }

    fn serve(&self, request: &Request<'_>, out: &mut impl Sink) -> Served {
        if let Err(error) = self.running.check(request) {
            out.put(|out| answer::write_error(Ok(&request.id), &error, out));
            return Served::Done;
        }
        method::serve_on_line(&self.shared, &self.peer, request, out)
    }

    fn batch(&self, members: Vec<Result<Message<'_>, Malformed<'_>>>) {
        if !batch::is_known(&self.peer) {
            let error = ErrorObject::invalid_request(batch::UNKNOWN);
            let unreadable = batch::unreadable(&self.peer);
            let mut outbox = self.outbox.clone();
            return outbox.put(|out| answer::write_error(Err(unreadable), &error, out));
        }
        let _inside = self.runtime.enter();
        let here = BatchContext {
            shared: &self.shared,
            session: &self.peer,
            peer: &self.peer,
            running: &self.running,
        };
        let batch = here.serve(members);
        if batch.begun.is_empty() {
            self.outbox.push(&batch::array(&batch.ready));
        } else {
            self.spawn_batch(batch);
        }
    }

    /// Answers all requests of a batch with one message, when the last of them is done.
    fn spawn_batch(&self, batch: Batch) {
        let Batch { mut ready, begun } = batch;
        let (outbox, running) = (self.outbox.clone(), self.running.clone());
        let runtime = self.runtime.clone();
        self.runtime.spawn(async move {
            // Each in a task of its own, so that they run side by side; joined here in order.
            let spawn = |begun: super::running::Begun| {
                let task =
                    runtime.spawn(async move { unless(&begun.cancel, begun.response).await });
                (begun.ticket, task)
            };
            let tasks: Vec<_> = begun.into_iter().map(spawn).collect();
            let mut done = Vec::new();
            for (ticket, task) in tasks {
                done.push((ticket, task.await.ok().flatten()));
            }
            // A peer that is gone needs no answer.
            let _ = outbox.ready().await;
            running.answer(done, |late| {
                ready.extend(late.into_iter().map(Response::into_message));
                outbox.push(&batch::array(&ready));
            });
        });
    }
}

impl Receive for Connection {
    fn receive(&mut self, message: &[u8]) {
        match envelope::parse(message) {
            Ok(Frame::One(message)) => self.message(message),
            Ok(Frame::Batch(members)) => self.batch(members),
            Err(malformed) => {
                let unreadable = batch::unreadable(&self.peer);
                batch::refuse_malformed(&malformed, unreadable, &mut self.outbox.clone());
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
                let id = id.as_ref().ok_or(batch::unreadable(&self.peer));
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
