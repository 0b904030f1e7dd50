//! Requests that we sent to a legacy client, and who waits for their answers.

use std::{sync::Arc, time::Instant};

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use turnbuckle_base::lock::{Mutex, MutexGuard};
use turnbuckle_protocol::{ErrorObject, Id, envelope};
use turnbuckle_session::{RequestTable, requests::Deadline};

/// What a client answered.
pub(crate) type ClientAnswer = Result<Box<RawValue>, ErrorObject>;

/// The requests of one session that have no answer yet.
#[derive(Default)]
pub(crate) struct Requests(Mutex<RequestTable<oneshot::Sender<ClientAnswer>>>);

impl Requests {
    fn table(&self) -> MutexGuard<'_, RequestTable<oneshot::Sender<ClientAnswer>>> {
        self.0.lock()
    }

    /// Enters a request: its id, and where its answer will come. A person may take hours to fill
    /// in a form, so there is no deadline: it ends with the call or the connection.
    pub(crate) fn enter(
        self: &Arc<Self>,
    ) -> Result<(Waiting, oneshot::Receiver<ClientAnswer>), String> {
        let (sender, receiver) = oneshot::channel();
        let id = self
            .table()
            .insert(sender, Deadline::never(), Instant::now())
            .map_err(|full| full.to_string())?;
        Ok((
            Waiting {
                id,
                requests: Arc::clone(self),
            },
            receiver,
        ))
    }

    /// Takes a response; one that nobody waits for is dropped.
    pub(crate) fn answer(&self, response: &envelope::Response<'_>) {
        let Some(id) = &response.id else { return };
        let Some(sender) = self.table().complete(id) else {
            return;
        };
        let outcome = match response.outcome {
            Ok(result) => Ok(result.value().to_owned()),
            Err(error) => Err(serde_json::from_str(error.get())
                .unwrap_or_else(|_| ErrorObject::internal("the client's error cannot be read"))),
        };
        // Whoever asked may have gone in the meantime.
        let _ = sender.send(outcome);
    }
}

/// A request that waits for its answer, and is forgotten when nobody waits any more.
pub(crate) struct Waiting {
    pub(crate) id: Id,
    requests: Arc<Requests>,
}

impl Waiting {
    /// Whether the answer is still to come.
    pub(crate) fn is_open(&self) -> bool {
        self.requests.table().cancel(&self.id.as_ref()).is_some()
    }
}
