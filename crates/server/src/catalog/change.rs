//! Adding and removing while the server runs.

use std::sync::Arc;

use turnbuckle_store::Change;

use super::Snapshot;
use crate::{
    IntoPrompt, IntoResource, IntoTool,
    setup::{self, SetupError},
    shared::Shared,
};

/// The catalog of a running server: add and remove tools, prompts and resources.
///
/// Clients are told with a list-changed notification. A handler gets it as an extractor; the rest
/// of the program from [`LiveServer::catalog`](crate::LiveServer::catalog).
#[derive(Clone)]
pub struct Catalog(Arc<Shared>);

impl Catalog {
    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::clone(shared))
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// If the name is taken or the tool cannot be served; the catalog is unchanged then.
    pub fn add_tool<X>(&self, tool: impl IntoTool<X>) -> Result<(), SetupError> {
        let entry = setup::tool(tool.into_tool(), &self.0.settings, &self.0)?;
        self.0.change(|catalog| catalog.insert(entry))?;
        self.0.publish(Change::Tools);
        Ok(())
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
        let entry = setup::prompt(prompt.into_prompt(), &self.0)?;
        self.0.change(|catalog| catalog.insert(entry))?;
        self.0.publish(Change::Prompts);
        Ok(())
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
        let entry = setup::resource(resource.into_resource(), &self.0)?;
        self.0.change(|catalog| catalog.insert(entry))?;
        self.0.publish(Change::Resources);
        Ok(())
    }

    /// Removes the resource at this URI or the template; false if there is none.
    pub fn remove_resource(&self, uri: &str) -> bool {
        self.remove(Change::Resources, |catalog| {
            catalog.resources.remove(uri) || catalog.templates.remove(uri)
        })
    }

    fn remove(&self, list: Change, remove: impl FnOnce(&mut Snapshot) -> bool) -> bool {
        let mut removed = false;
        let changed = self.0.change(|catalog| {
            removed = remove(catalog);
            if removed { Ok(()) } else { Err(()) }
        });
        if changed.is_ok() {
            self.0.publish(list);
        }
        removed
    }
}
