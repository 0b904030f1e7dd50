//! What all connections of a server share.

use std::sync::Arc;

use turnbuckle_protocol::{JsonObject, ServerCapabilities};

use super::{
    answer::Responder,
    settings::Settings,
    task::{TaskHost, TaskRunner},
};
use crate::{
    Catalog, Layer,
    catalog::{Snapshot, extension::Registry},
    client::roots::OnRootsChanged,
    handler::CallContext,
};

pub(crate) struct Shared {
    pub(crate) responder: Arc<Responder>,
    pub(crate) instructions: Option<String>,
    pub(crate) settings: Settings,
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

    /// Where tasks run, if there is or ever was a tool that runs as one.
    pub(crate) fn task_runner(&self) -> Option<Arc<dyn TaskRunner>> {
        let runs_tasks = self.catalog().runs_tasks();
        runs_tasks.then(|| self.tasks.runner()).flatten()
    }

    /// What the server can do, read off what it was given.
    pub(crate) fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = self.catalog().capabilities();
        if self.context.logging.is_made() {
            capabilities.logging = Some(JsonObject::new());
        }
        self.extensions.declare(&mut capabilities);
        capabilities
    }
}
