//! Adding and removing while the server runs.

use std::sync::Arc;

use turnbuckle_base::lock::RwLock;
use turnbuckle_store::Change;

use super::{SetupError, Shelved, Snapshot, setup};
use crate::{
    Call, Changes, Extract, Failure, Fault, IntoPrompt, IntoResource, IntoTool, Leniency,
    handler::{LogOffer, StateTypes},
};

/// The catalog of a running server: add and remove tools, prompts and resources.
///
/// Clients are told with a list-changed notification. A handler gets it as an extractor; the rest
/// of the program from [`LiveServer::catalog`](crate::LiveServer::catalog).
#[derive(Clone)]
pub struct Catalog(Arc<LiveCatalog>);

/// The catalog of a running server, and what it takes to change it.
struct LiveCatalog {
    snapshot: RwLock<Arc<Snapshot>>,
    leniency: Leniency,
    states: StateTypes,
    logging: Arc<LogOffer>,
    changes: Changes,
}

impl Catalog {
    pub(crate) fn new(
        snapshot: Snapshot,
        leniency: Leniency,
        states: StateTypes,
        logging: Arc<LogOffer>,
        changes: Changes,
    ) -> Self {
        offer_logs(&snapshot, &logging);
        Self(Arc::new(LiveCatalog {
            snapshot: RwLock::new(Arc::new(snapshot)),
            leniency,
            states,
            logging,
            changes,
        }))
    }

    /// The catalog as it is now.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.snapshot.read())
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// If the name is taken or the tool cannot be served; the catalog is unchanged then.
    pub fn add_tool<X>(&self, tool: impl IntoTool<X>) -> Result<(), SetupError> {
        let entry = setup::tool(tool.into_tool(), self.0.leniency, &self.0.states)?;
        self.insert(entry, Change::Tools)
    }

    /// Removes a tool; false if there is none of this name. Calls under way go on.
    pub fn remove_tool(&self, name: &str) -> bool {
        self.remove(Change::Tools, |catalog| catalog.tools.remove(name))
    }

    /// Adds a prompt.
    ///
    /// # Errors
    /// If the name is taken or the prompt cannot be served; the catalog is unchanged then.
    pub fn add_prompt<X>(&self, prompt: impl IntoPrompt<X>) -> Result<(), SetupError> {
        let entry = setup::prompt(prompt.into_prompt(), &self.0.states)?;
        self.insert(entry, Change::Prompts)
    }

    /// Removes a prompt; false if there is none of this name.
    pub fn remove_prompt(&self, name: &str) -> bool {
        self.remove(Change::Prompts, |catalog| catalog.prompts.remove(name))
    }

    /// Adds a resource or a template.
    ///
    /// # Errors
    /// If the URI is taken or the resource cannot be served; the catalog is unchanged then.
    pub fn add_resource<X>(&self, resource: impl IntoResource<X>) -> Result<(), SetupError> {
        let entry = setup::resource(resource.into_resource(), &self.0.states)?;
        self.insert(entry, Change::Resources)
    }

    /// Removes the resource at this URI or the template; false if there is none.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.remove(Change::Resources, |catalog| {
            catalog.resources.remove(uri) || catalog.templates.remove(uri)
        })
    }

    fn insert(&self, entry: Shelved, list: Change) -> Result<(), SetupError> {
        self.change(|catalog| catalog.insert(entry))?;
        self.0.changes.publish(list);
        Ok(())
    }

    fn remove(&self, list: Change, remove: impl FnOnce(&mut Snapshot) -> bool) -> bool {
        let mut removed = false;
        let changed = self.change(|catalog| {
            removed = remove(catalog);
            if removed { Ok(()) } else { Err(()) }
        });
        if changed.is_ok() {
            self.0.changes.publish(list);
        }
        removed
    }

    /// Changes the catalog, or leaves it as it was.
    fn change<E>(&self, change: impl FnOnce(&mut Snapshot) -> Result<(), E>) -> Result<(), E> {
        let mut snapshot = self.0.snapshot.write();
        let mut next = Snapshot::clone(&snapshot);
        change(&mut next)?;
        offer_logs(&next, &self.0.logging);
        *snapshot = Arc::new(next);
        Ok(())
    }
}

fn offer_logs(snapshot: &Snapshot, logging: &LogOffer) {
    if snapshot.open_offer().logs {
        logging.make();
    }
    if snapshot.hides_logs() {
        logging.make_for_some();
    }
}

impl Extract for Catalog {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let catalog = call.context.states.get::<Self>().cloned();
        catalog.ok_or_else(|| Fault::new("the server has no catalog").into())
    }
}
