//! The requests that are being served on one connection or in one session.

use std::{future::Future, pin::pin, sync::Arc, task::Poll};

use futures_core::future::BoxFuture;
use tokio::{runtime::Handle, task::JoinHandle};
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::{ErrorObject, Id, envelope::Request};
use turnbuckle_session::{
    InFlight,
    in_flight::{Refused, Ticket},
};
use turnbuckle_transport::Outbox;

use crate::{
    client::CancelFlag,
    engine::{Response, unsent::Unsent},
};

/// Returns the output of a future, or `None` if the flag is set first. The future is dropped then.
pub(crate) async fn unless<T>(cancel: &CancelFlag, mut future: BoxFuture<'_, T>) -> Option<T> {
    let mut cancelled = pin!(cancel.wait());
    let output = std::future::poll_fn(|context| {
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        future.as_mut().poll(context).map(Some)
    })
    .await;
    if output.is_none() {
        cancel.drop_cancelled(future);
    }
    output
}

/// A request whose response follows later.
pub(crate) struct Begun {
    pub(crate) ticket: Ticket,
    pub(crate) cancel: CancelFlag,
    pub(crate) response: BoxFuture<'static, Response>,
}

impl Begun {
    /// Returns the ticket for the answer, and a future of the response, which counts against
    /// `unsent`. The future returns `None` if the request is cancelled.
    pub(crate) fn into_parts(
        self,
        unsent: Option<Unsent>,
    ) -> (Ticket, impl Future<Output = Option<Response>> + Send) {
        let (cancel, response, id) = (self.cancel, self.response, self.ticket.id().clone());
        let paid = async move {
            let response = unless(&cancel, response).await?;
            Some(match unsent {
                Some(unsent) => unsent.pay(response, &id.as_ref()),
                None => response,
            })
        };
        (self.ticket, paid)
    }
}

/// The requests that are being served.
#[derive(Clone)]
pub(crate) struct RunningRequests(Arc<Mutex<RequestTable>>);

struct RequestTable {
    requests: InFlight<CancelFlag>,
    is_closing: bool,
    /// The outbox, which is closed when the last request has been answered after the end of the
    /// input.
    outbox: Option<Outbox>,
}

impl RunningRequests {
    pub(crate) fn new(outbox: Option<Outbox>) -> Self {
        Self(Arc::new(Mutex::new(RequestTable {
            requests: InFlight::new(),
            is_closing: false,
            outbox,
        })))
    }

    fn table(&self) -> MutexGuard<'_, RequestTable> {
        self.0.lock()
    }

    pub(crate) fn owner(&self) -> Owner {
        Owner(self.clone())
    }

    /// Rejects an id that is still in use, before the request does anything.
    pub(crate) fn check(&self, request: &Request<'_>) -> Result<(), ErrorObject> {
        let table = self.table();
        if table.requests.is_empty() {
            return Ok(());
        }
        match table.requests.check(&request.id.clone().into_owned()) {
            // ping: the receiver MUST respond promptly, even if it is busy.
            Err(Refused::TooMany { .. }) if request.method == "ping" => Ok(()),
            checked => {
                checked.map_err(|refused| ErrorObject::new(refused.code(), refused.to_string()))
            }
        }
    }

    /// Enters a request whose response follows later.
    pub(crate) fn begin(
        &self,
        id: Id,
        response: BoxFuture<'static, Response>,
    ) -> Result<Begun, ErrorObject> {
        let cancel = CancelFlag::default();
        let ticket = self
            .table()
            .requests
            .begin(id, cancel.clone())
            .map_err(|refused| ErrorObject::new(refused.code(), refused.to_string()))?;
        Ok(Begun {
            ticket,
            cancel,
            response,
        })
    }

    /// Ends requests and sends their responses, in one step. Responses of cancelled requests are
    /// not sent, and a client that has received a response can use its id again. `send` must not
    /// wait.
    pub(crate) fn answer(
        &self,
        done: Vec<(Ticket, Option<Response>)>,
        send: impl FnOnce(Vec<Response>),
    ) {
        let mut table = self.table();
        let answers = done.into_iter().filter_map(|(ticket, response)| {
            table.requests.finish(&ticket)?;
            response
        });
        send(answers.collect());
        table.close_if_idle();
    }

    /// Runs a request in a task of its own, until it ends or is cancelled. Its response waits while
    /// too many messages for the client are queued, and is dropped if the client has disconnected.
    /// It counts against `unsent`.
    pub(crate) fn run(
        &self,
        runtime: &Handle,
        begun: Begun,
        outbox: Outbox,
        unsent: Option<Unsent>,
    ) -> JoinHandle<()> {
        let running = self.clone();
        runtime.spawn(async move {
            let mut response = unless(&begun.cancel, begun.response).await;
            if let Some(unsent) = &unsent {
                let id = begun.ticket.id().as_ref();
                response = response.map(|response| unsent.pay(response, &id));
            }
            let _ = unless(&begun.cancel, Box::pin(outbox.ready())).await;
            running.answer(vec![(begun.ticket, response)], |answers| {
                for answer in answers {
                    answer.push_to(&outbox);
                }
            });
        })
    }

    /// Cancels a request. Returns `false` if it is not being served here.
    pub(crate) fn cancel(&self, id: &Id, reason: Option<&str>) -> bool {
        let Some(cancel) = self.table().requests.cancel(id) else {
            return false;
        };
        tracing::debug!(%id, reason, "a request was cancelled");
        cancel.set_because(reason);
        true
    }

    /// Whether no request is being served.
    #[cfg(feature = "http")]
    pub(crate) fn is_idle(&self) -> bool {
        self.table().requests.is_empty()
    }

    pub(crate) fn cancel_all(&self) {
        for cancel in self.table().requests.drain() {
            cancel.set();
        }
    }

    pub(crate) fn close_when_idle(&self) {
        let mut table = self.table();
        table.is_closing = true;
        table.close_if_idle();
    }
}

/// Cancels all running requests when it is dropped.
pub(crate) struct Owner(RunningRequests);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.cancel_all();
    }
}

impl RequestTable {
    fn close_if_idle(&mut self) {
        if self.is_closing && self.requests.is_empty() {
            self.outbox.iter().for_each(Outbox::close);
        }
    }
}
