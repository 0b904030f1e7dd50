//! What all connections of a server share.

use std::sync::Arc;

use turnbuckle_protocol::{JsonObject, ServerCapabilities};

use super::{
    answer::Responder,
    budget::Budget,
    rates::RateTable,
    settings::Settings,
    task::{TaskHost, TaskRunner},
};
use crate::{
    Caller, Catalog, Layer,
    catalog::{Offer, Snapshot, extension::Registry},
    client::roots::OnRootsChanged,
    handler::CallContext,
};

pub(crate) struct Shared {
    pub(crate) responder: Arc<Responder>,
    pub(crate) instructions: Option<String>,
    pub(crate) settings: Settings,
    /// The memory for messages in flight.
    pub(crate) budget: Arc<Budget>,
    /// How often callers have asked of late.
    pub(crate) rates: RateTable,
    /// What is around every call.
    pub(crate) layers: Vec<Arc<dyn Layer>>,
    pub(crate) context: Arc<CallContext>,
    pub(crate) catalog: Catalog,
    /// What extensions added.
    pub(crate) extensions: Registry,
    /// Called when the roots of a client have changed.
    pub(crate) on_roots_changed: Option<OnRootsChanged>,
    pub(crate) tasks: TaskHost,
}

impl Shared {
    /// The catalog as it is now.
    pub(crate) fn catalog(&self) -> Arc<Snapshot> {
        self.catalog.snapshot()
    }

    /// Where tasks run, if this caller is offered a tool that runs as one.
    pub(crate) fn task_runner(&self, caller: &Caller) -> Option<Arc<dyn TaskRunner>> {
        let runs_tasks = self.catalog().offers(caller, |offer| offer.tasks);
        runs_tasks.then(|| self.tasks.runner()).flatten()
    }

    /// Whether this caller is offered log messages.
    pub(crate) fn logs(&self, caller: &Caller) -> bool {
        self.context.logging.is_made() || self.catalog().offers(caller, |offer| offer.logs)
    }

    /// What the server can do for somebody who is offered this, read off what it was given.
    pub(crate) fn capabilities(&self, offer: Offer) -> ServerCapabilities {
        let mut capabilities = offer.capabilities();
        if offer.logs || self.context.logging.is_made() {
            capabilities.logging = Some(JsonObject::new());
        }
        self.extensions.declare(&mut capabilities);
        capabilities
    }
}
