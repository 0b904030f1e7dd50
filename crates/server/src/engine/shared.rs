//! The state that all connections of a server share.

use std::sync::Arc;

use turnbuckle_protocol::{JsonObject, ServerCapabilities};

use super::{
    answer::Responder,
    budget::Budget,
    memory_usage::MemoryUsage,
    rates::RateTable,
    settings::Settings,
    task::{TaskHost, TaskRunner},
};
use crate::{
    Caller, Catalog, Layer,
    catalog::{Offer, Snapshot, extension::Registry},
    client::roots::OnRootsChanged,
    handler::CallContext,
    quota::Quota,
    relay::{Relay, RelayOffer},
    subscription::NoticeOf,
};

pub(crate) struct Shared {
    pub(crate) responder: Arc<Responder>,
    pub(crate) instructions: Option<String>,
    pub(crate) settings: Settings,
    pub(crate) allowances: Allowances,
    /// The layers around every call.
    pub(crate) layers: Vec<Arc<dyn Layer>>,
    pub(crate) context: Arc<CallContext>,
    pub(crate) catalog: Catalog,
    /// The methods and notifications of extensions.
    pub(crate) extensions: Registry,
    /// Called when the roots of a client have changed.
    pub(crate) on_roots_changed: Option<OnRootsChanged>,
    pub(crate) tasks: TaskHost,
    /// The other replicas, if the server is one of several.
    #[cfg(feature = "http")]
    pub(crate) replicas: Option<Arc<crate::replica::Replicas>>,
    /// The relay, which gets requests first, if there is one.
    pub(crate) relay: Option<Arc<dyn Relay>>,
}

/// Limits on what callers may use, in total and each.
pub(crate) struct Allowances {
    /// The memory for messages in flight.
    pub(crate) budget: Arc<Budget>,
    /// The memory for data that is kept between messages.
    pub(crate) kept: Arc<Quota>,
    /// The memory for answers that have not been sent yet.
    pub(crate) unsent: Arc<Quota>,
    /// Counts recent requests of callers.
    pub(crate) rates: RateTable,
}

impl Allowances {
    /// Returns how many bytes are in use.
    pub(crate) fn memory_usage(&self) -> MemoryUsage {
        MemoryUsage {
            messages: self.budget.used(),
            kept: self.kept.used(),
            unsent: self.unsent.used(),
        }
    }
}

impl Shared {
    /// The current catalog.
    pub(crate) fn catalog(&self) -> Arc<Snapshot> {
        self.catalog.snapshot()
    }

    /// The runner of tasks, if this caller is offered a tool that runs as a task.
    pub(crate) fn task_runner(&self, caller: &Caller) -> Option<Arc<dyn TaskRunner>> {
        let runs_tasks = self.catalog().offers(caller, |offer| offer.tasks);
        runs_tasks.then(|| self.tasks.runner()).flatten()
    }

    /// Whether this caller is offered log messages.
    pub(crate) fn logs(&self, caller: &Caller) -> bool {
        let relayed = || {
            let offer = self.relayed(caller);
            offer.is_some_and(|offer| offer.capabilities.logging.is_some())
        };
        self.context.logging.is_made()
            || self.catalog().offers(caller, |offer| offer.logs)
            || relayed()
    }

    /// Decides how a caller is notified of updates of resources, if there is a relay.
    pub(crate) fn notices_of(&self, caller: &Caller) -> Option<NoticeOf> {
        let (relay, caller) = (Arc::clone(self.relay.as_ref()?), caller.clone());
        Some(Box::new(move |followed, updated| {
            relay.update_notice(&caller, followed, updated)
        }))
    }

    /// The relay's offer to this caller, if there is a relay.
    pub(crate) fn relayed(&self, caller: &Caller) -> Option<RelayOffer> {
        Some(self.relay.as_ref()?.offer(caller))
    }

    /// The capabilities of the server for a caller with this offer.
    pub(crate) fn capabilities(
        &self,
        offer: Offer,
        relayed: Option<&RelayOffer>,
    ) -> ServerCapabilities {
        let mut capabilities = offer.capabilities();
        if offer.logs || self.context.logging.is_made() {
            capabilities.logging = Some(JsonObject::new());
        }
        self.extensions.declare(&mut capabilities);
        if let Some(relayed) = relayed {
            add(&mut capabilities, &relayed.capabilities);
        }
        capabilities
    }
}

/// Adds the capabilities of a relay to those of the server.
fn add(own: &mut ServerCapabilities, relayed: &ServerCapabilities) {
    fn fill<T: Clone>(own: &mut Option<T>, relayed: Option<&T>) {
        if own.is_none() {
            *own = relayed.cloned();
        }
    }
    fill(&mut own.experimental, relayed.experimental.as_ref());
    fill(&mut own.logging, relayed.logging.as_ref());
    fill(&mut own.completions, relayed.completions.as_ref());
    fill(&mut own.prompts, relayed.prompts.as_ref());
    fill(&mut own.resources, relayed.resources.as_ref());
    fill(&mut own.tools, relayed.tools.as_ref());
    fill(&mut own.tasks, relayed.tasks.as_ref());
    for (id, settings) in relayed.extensions.iter().flatten() {
        let all = own.extensions.get_or_insert_default();
        all.entry(id.clone()).or_insert_with(|| settings.clone());
    }
}
