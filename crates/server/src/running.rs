//! The requests that are being served on one connection or in one session.

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use turnbuckle_protocol::{ErrorObject, Id, envelope::Request};
use turnbuckle_session::{
    InFlight,
    in_flight::{Refused, Ticket},
};
use turnbuckle_transport::Outbox;

use crate::{cancel::CancelFlag, sink::Response};

/// The output of a future, or `None` if the flag is set first; the future is dropped then.
pub(crate) async fn unless<T>(
    cancel: &CancelFlag,
    mut future: Pin<Box<dyn Future<Output = T> + Send + '_>>,
) -> Option<T> {
    let mut cancelled = pin!(cancel.wait());
    std::future::poll_fn(|context| {
        if cancelled.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        future.as_mut().poll(context).map(Some)
    })
    .await
}

/// The requests that are being served.
#[derive(Clone)]
pub(crate) struct Running(Arc<Mutex<Table>>);

struct Table {
    requests: InFlight<CancelFlag>,
    is_closing: bool,
    /// Closed when the last request is done, once nothing more can come.
    outbox: Option<Outbox>,
}

impl Running {
    pub(crate) fn new(outbox: Option<Outbox>) -> Self {
        Self(Arc::new(Mutex::new(Table {
            requests: InFlight::new(),
            is_closing: false,
            outbox,
        })))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn owner(&self) -> Owner {
        Owner(self.clone())
    }

    /// Refuses an id that is still being served, before the request does anything.
    pub(crate) fn check(&self, request: &Request<'_>) -> Result<(), ErrorObject> {
        let table = self.table();
        if table.requests.is_empty() {
            return Ok(());
        }
        match table.requests.check(&request.id.clone().into_owned()) {
            // ping: the receiver MUST respond promptly, however much else it has to do.
            Err(Refused::TooMany { .. }) if request.method == "ping" => Ok(()),
            checked => {
                checked.map_err(|refused| ErrorObject::new(refused.code(), refused.to_string()))
            }
        }
    }

    pub(crate) fn begin(&self, id: Id) -> Result<(Ticket, CancelFlag), ErrorObject> {
        let cancel = CancelFlag::default();
        let ticket = self
            .table()
            .requests
            .begin(id, cancel.clone())
            .map_err(|refused| ErrorObject::new(refused.code(), refused.to_string()))?;
        Ok((ticket, cancel))
    }

    /// Ends requests and sends what they gave, in one step: nothing goes out for those that were
    /// cancelled, and whoever reads an answer finds its id free again. `send` must not wait.
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

    pub(crate) fn cancel(&self, id: &Id) {
        if let Some(cancel) = self.table().requests.cancel(id) {
            cancel.set();
        }
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

/// Ends what is being served when it is dropped.
pub(crate) struct Owner(Running);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.cancel_all();
    }
}

impl Table {
    fn close_if_idle(&mut self) {
        if self.is_closing && self.requests.is_empty() {
            self.outbox.iter().for_each(Outbox::close);
        }
    }
}
