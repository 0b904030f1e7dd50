//! `Catalog`: adding and removing entries while the server runs.

use std::sync::Arc;

use turnbuckle_store::LocalFanout;

use super::{
    CatalogEdit, Offer, SetupError, Snapshot, edit::ChangedLists, live_catalog::LiveCatalog,
};
use crate::{
    Call, Changes, Extract, Failure, Fault, IntoPrompt, IntoResource, IntoTool, Leniency,
    ListenerLimits,
    handler::{Description, ReadsHttp, StateMap},
    quota::Quota,
};

/// The catalog of a running server: adds, replaces and removes tools, prompts and resources. Clones
/// share the same catalog.
///
/// Clients are notified when a list changes. A handler takes the catalog as an extractor; other
/// code gets it from [`LiveServer::catalog`](crate::LiveServer::catalog). A server whose catalog is
/// used in one of these ways declares all three lists, even if they are empty, so that clients are
/// notified when entries are added. To declare only some lists, use
/// [`Server::dynamic_tools`](crate::Server::dynamic_tools) and its siblings.
///
/// Changes are visible at once, for all callers and transports of this process; each replica has
/// its own catalog. Use [`edit`](Self::edit) to make several changes at once.
///
/// ```
/// use turnbuckle_server::{Catalog, Tool, ToolError};
///
/// /// A tool that adds another one.
/// async fn install(catalog: Catalog) -> Result<&'static str, ToolError> {
///     catalog.replace_tool(Tool::new("lint", async || "no warnings"))?;
///     Ok("installed")
/// }
///
/// let tool = Tool::new("install", install);
/// # drop(tool);
/// ```
#[derive(Clone)]
pub struct Catalog(Arc<LiveCatalog>);

impl Catalog {
    pub(crate) fn new(live: LiveCatalog) -> Self {
        Self(Arc::new(live))
    }

    /// Creates an empty catalog without a server, for tests that call a handler as a function.
    ///
    /// Handlers that are added to it cannot use [`State`](crate::State); to test those, build a
    /// server with states and use its catalog.
    ///
    /// ```
    /// use turnbuckle_server::{Catalog, Tool};
    ///
    /// let catalog = Catalog::detached();
    /// catalog.add_tool(Tool::new("lint", async || "no warnings"))?;
    /// assert_eq!(catalog.tools(), ["lint"]);
    /// # Ok::<(), turnbuckle_server::SetupError>(())
    /// ```
    pub fn detached() -> Self {
        Self::new(LiveCatalog::new(
            Snapshot::new(Offer::FILLABLE),
            Leniency::Lenient,
            StateMap::default().types(&ReadsHttp::default()),
            Arc::default(),
            Changes::new(
                Arc::new(LocalFanout::default()),
                ListenerLimits::default(),
                Quota::new(usize::MAX, usize::MAX),
            ),
        ))
    }

    /// Returns the names of all enabled tools, in the order of the list. Tools that only some
    /// callers see are included.
    pub fn tools(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        snapshot
            .tools
            .iter()
            .map(|tool| tool.wire.name.clone())
            .collect()
    }

    /// Returns the names of all prompts, in the order of the list. Prompts that only some callers
    /// see are included.
    pub fn prompts(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let names = snapshot
            .prompts
            .iter()
            .map(|prompt| prompt.wire.name.clone());
        names.collect()
    }

    /// Returns the URIs of all resources and then of all templates, in the order of their lists.
    /// Those that only some callers see are included.
    pub fn resources(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let uris = snapshot
            .resources
            .iter()
            .map(|entry| entry.wire.uri.clone());
        let templates = snapshot.templates.iter();
        uris.chain(templates.map(|entry| entry.wire.uri_template.clone()))
            .collect()
    }

    /// The current catalog.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.snapshot.read())
    }

    /// Returns this catalog for use outside of the server, and declares the lists that can be
    /// filled.
    pub(crate) fn handed_out(&self) -> Self {
        self.0.hand_out();
        self.clone()
    }

    /// Starts an edit of several changes, which are applied together: clients never see only some
    /// of them, and are notified once for each list.
    pub fn edit(&self) -> CatalogEdit {
        CatalogEdit::new(Arc::clone(&self.0))
    }

    /// Adds a tool at the end of the list, and notifies clients. To replace a tool of this name
    /// that may exist, use [`replace_tool`](Self::replace_tool).
    ///
    /// # Errors
    /// [`SetupError::Duplicate`] if the name is taken, also by a disabled tool. The other variants
    /// if the tool cannot be served. The catalog is unchanged then.
    pub fn add_tool<X>(&self, tool: impl IntoTool<X>) -> Result<(), SetupError> {
        self.edit().add_tool(tool).apply()
    }

    /// Adds a tool, or replaces the tool that has the same name, and notifies clients. The name can
    /// be called at any time: calls in progress finish with the old tool, and later calls use the
    /// new tool.
    ///
    /// # Errors
    /// If the tool cannot be served. The catalog is unchanged then.
    pub fn replace_tool<X>(&self, tool: impl IntoTool<X>) -> Result<(), SetupError> {
        self.edit().replace_tool(tool).apply()
    }

    /// Removes a tool and notifies clients. Returns `false` if no tool has this name. Calls in
    /// progress finish. To hide the tool for a while, use [`disable_tool`](Self::disable_tool).
    pub fn remove_tool(&self, name: &str) -> bool {
        is_changed(self.edit().remove_tool(name))
    }

    /// Enables a disabled tool and notifies clients. Returns `false` if no disabled tool has this
    /// name.
    pub fn enable_tool(&self, name: &str) -> bool {
        is_changed(self.edit().enable_tool(name))
    }

    /// Disables a tool and notifies clients: it is not listed and cannot be called, but its name
    /// stays taken. Returns `false` if no enabled tool has this name. Calls in progress finish.
    pub fn disable_tool(&self, name: &str) -> bool {
        is_changed(self.edit().disable_tool(name))
    }

    /// Adds a prompt at the end of the list, and notifies clients.
    ///
    /// # Errors
    /// If the name is taken or the prompt cannot be served; the catalog is unchanged then.
    pub fn add_prompt<X>(&self, prompt: impl IntoPrompt<X>) -> Result<(), SetupError> {
        self.edit().add_prompt(prompt).apply()
    }

    /// Adds a prompt, or replaces the prompt that has the same name, and notifies clients.
    ///
    /// # Errors
    /// If the prompt cannot be served; the catalog is unchanged then.
    pub fn replace_prompt<X>(&self, prompt: impl IntoPrompt<X>) -> Result<(), SetupError> {
        self.edit().replace_prompt(prompt).apply()
    }

    /// Removes a prompt and notifies clients. Returns `false` if no prompt has this name.
    pub fn remove_prompt(&self, name: &str) -> bool {
        is_changed(self.edit().remove_prompt(name))
    }

    /// Adds a resource or a template at the end of its list, and notifies clients.
    ///
    /// # Errors
    /// If the URI is taken or the resource cannot be served; the catalog is unchanged then.
    pub fn add_resource<X>(&self, resource: impl IntoResource<X>) -> Result<(), SetupError> {
        self.edit().add_resource(resource).apply()
    }

    /// Adds a resource or a template, or replaces the entry that has the same URI, and notifies
    /// clients.
    ///
    /// # Errors
    /// If the resource cannot be served; the catalog is unchanged then.
    pub fn replace_resource<X>(&self, resource: impl IntoResource<X>) -> Result<(), SetupError> {
        self.edit().replace_resource(resource).apply()
    }

    /// Removes the resource or the template with this URI, and notifies clients that the list
    /// changed. Returns `false` if the server has no such entry.
    pub fn remove_resource(&self, uri: &str) -> bool {
        is_changed(self.edit().remove_resource(uri))
    }
}

/// Whether an edit that cannot fail changed something.
fn is_changed(edit: CatalogEdit) -> bool {
    edit.commit().is_ok_and(ChangedLists::is_any)
}

impl Extract for Catalog {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let catalog = call.context.states.get::<Self>().cloned();
        catalog.ok_or_else(|| Fault::new("the server has no catalog").into())
    }

    fn describe(description: &mut Description) {
        description.changes_catalog = true;
    }
}
