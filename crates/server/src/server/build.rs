//! Building a `LiveServer` from a `Server`.

use std::sync::Arc;

use super::{builder::Server, keys::random_keys};
#[cfg(not(feature = "http"))]
use crate::engine::task::TaskStore;
use crate::{
    Catalog, Changes, HandlerSet, Leniency, LiveServer, SetupError,
    catalog::{Offer, Snapshot, extension::Registry, live_catalog::LiveCatalog, setup},
    engine::{Allowances, Responder, Shared, budget::Budget, rates::RateTable, task::TaskHost},
    handler::{
        CallContext, StateTypes,
        ask::{AskContext, AskSettings},
    },
};

impl Server {
    /// Checks all settings and entries and returns a [`LiveServer`], which can be served on one or
    /// several transports. [`Server::serve`] calls it for you; call it yourself to use the server
    /// in memory, in your own router, on several transports, or to change it while it runs.
    ///
    /// No port is opened. No task is started either, except for a server with `Server::replicas`,
    /// which must be built inside a runtime.
    ///
    /// # Errors
    /// [`SetupError`]: the first mistake that was found, such as a duplicate name, a missing state,
    /// a schema that is not an object, or a secret that is too short. The message says what to
    /// change.
    pub fn build(self) -> Result<LiveServer, SetupError> {
        #[cfg(feature = "http")]
        super::replicas::check(self.replicas.as_ref(), self.keys.is_some())?;
        let keys = match self.keys {
            Some(keys) => keys?,
            None => random_keys()?,
        };
        if let Some(state) = self.repeated_state {
            return Err(SetupError::DuplicateState { state });
        }
        let mut states = self.states;
        let types = states.types(&self.reads_http);
        let mut handlers = self.handlers;
        let extensions = Registry::of(self.extensions, &mut handlers, &types)?;
        let snapshot = snapshot(self.lists, handlers, self.leniency, &types)?;
        let kept = self.settings.memory.kept_quota();
        let changes = Changes::new(self.fanout, self.settings.listeners, Arc::clone(&kept));
        let logging = Arc::new(self.logging);
        let catalog = Catalog::new(LiveCatalog::new(
            snapshot,
            self.leniency,
            types,
            Arc::clone(&logging),
            changes.clone(),
        ));
        // Handlers extract the catalog from the states, too.
        states.insert(catalog.clone());
        let asks = AskSettings {
            asks_by_tasks: self.task_settings.asks_by_tasks,
            ..self.asks
        };
        let rates = self.settings.rates;
        let asks = Arc::new(AskContext::new(asks, keys));
        let rate_table = RateTable::new(rates);
        #[cfg(feature = "http")]
        let rate_table = rate_table.shared(super::replicas::shared_rates(self.replicas.as_ref()));
        #[cfg(feature = "http")]
        let (replicas, tasks) =
            super::replicas::join(self.replicas, self.streams, self.tasks, &asks)?;
        #[cfg(feature = "http")]
        if replicas.is_some() {
            changes.hub().remember_changes();
        }
        #[cfg(not(feature = "http"))]
        let tasks = self.tasks.map_or(TaskStore::Memory, TaskStore::Given);
        let tasks = TaskHost::new(tasks, self.task_settings, Arc::clone(&kept));
        Ok(LiveServer::new(Shared {
            responder: Arc::new(Responder::new(
                self.info,
                self.cache,
                self.errors,
                catalog.clone(),
            )),
            instructions: self.instructions,
            allowances: Allowances {
                // A relay keeps the request and writes another message, for the other server.
                budget: Arc::new(Budget::new(
                    self.settings.memory,
                    1 + usize::from(self.relay.is_some()),
                )),
                kept,
                unsent: self.settings.memory.unsent_quota(),
                rates: rate_table,
            },
            settings: self.settings,
            layers: self.layers,
            context: Arc::new(CallContext {
                states,
                changes,
                asks,
                logging,
                default_log_level: self.default_log_level,
                progress_rate: rates.progress,
                log_rate: rates.log_messages,
                #[cfg(feature = "http")]
                reads_http: self.reads_http,
            }),
            catalog,
            extensions,
            on_roots_changed: self.on_roots_changed,
            tasks,
            #[cfg(feature = "http")]
            replicas,
            relay: self.relay,
        }))
    }
}

/// Makes the catalog with which the server starts.
fn snapshot(
    lists: Offer,
    handlers: HandlerSet,
    leniency: Leniency,
    states: &StateTypes,
) -> Result<Snapshot, SetupError> {
    let HandlerSet {
        tools,
        prompts,
        resources,
    } = handlers;
    let mut catalog = Snapshot::new(lists);
    for tool in tools {
        catalog.insert(setup::tool(tool, leniency, states)?)?;
    }
    for prompt in prompts {
        catalog.insert(setup::prompt(prompt, states)?)?;
    }
    for resource in resources {
        catalog.insert(setup::resource(resource, states)?)?;
    }
    Ok(catalog)
}
