//! `CatalogEdit`: several changes to the catalog that are applied together.

use std::sync::Arc;

use turnbuckle_store::Change;

use super::{NewEntry, SetupError, Snapshot, live_catalog::LiveCatalog, setup};
use crate::{IntoPrompt, IntoResource, IntoTool};

/// Several changes to a [catalog](crate::Catalog) that take effect together. Created by
/// [`Catalog::edit`](crate::Catalog::edit).
///
/// [`apply`](Self::apply) makes all changes at the same moment, in the order in which they were
/// added, and notifies clients once for each list that changed. Before that nothing changes.
///
/// ```
/// use turnbuckle_server::{Server, Tool};
///
/// let server = Server::new("plugins", "1.0.0").build()?;
/// server
///     .catalog()
///     .edit()
///     .add_tool(Tool::new("lint", async || "no warnings"))
///     .add_tool(Tool::new("format", async || "formatted"))
///     .remove_tool("check")
///     .apply()?;
/// # Ok::<(), turnbuckle_server::SetupError>(())
/// ```
#[must_use = "an edit does nothing until it is applied"]
pub struct CatalogEdit {
    catalog: Arc<LiveCatalog>,
    steps: Vec<EditStep>,
    problem: Option<SetupError>,
}

enum EditStep {
    Add(NewEntry),
    Replace(NewEntry),
    Remove(Change, String),
    Enable(Change, String),
    Disable(Change, String),
}

/// The lists that an edit changed.
#[derive(Clone, Copy, Default)]
pub(super) struct ChangedLists {
    tools: bool,
    prompts: bool,
    resources: bool,
}

impl ChangedLists {
    pub(super) fn is_any(self) -> bool {
        self.tools || self.prompts || self.resources
    }

    fn mark(&mut self, list: &Change) {
        match list {
            Change::Tools => self.tools = true,
            Change::Prompts => self.prompts = true,
            _ => self.resources = true,
        }
    }
}

impl CatalogEdit {
    pub(super) fn new(catalog: Arc<LiveCatalog>) -> Self {
        Self {
            catalog,
            steps: Vec::new(),
            problem: None,
        }
    }

    /// Adds a tool. If its name is taken, [`apply`](Self::apply) fails.
    pub fn add_tool<X>(self, tool: impl IntoTool<X>) -> Self {
        let tool = setup::tool(
            tool.into_tool(),
            self.catalog.leniency,
            &self.catalog.states,
        );
        self.step(tool.map(EditStep::Add))
    }

    /// Adds a tool, or replaces the tool that has the same name. Calls in progress finish with the
    /// old tool.
    pub fn replace_tool<X>(self, tool: impl IntoTool<X>) -> Self {
        let tool = setup::tool(
            tool.into_tool(),
            self.catalog.leniency,
            &self.catalog.states,
        );
        self.step(tool.map(EditStep::Replace))
    }

    /// Removes the tool with this name, if it exists. Calls in progress finish.
    pub fn remove_tool(self, name: &str) -> Self {
        self.step(Ok(EditStep::Remove(Change::Tools, name.to_owned())))
    }

    /// Enables the tool with this name, if it is disabled.
    pub fn enable_tool(self, name: &str) -> Self {
        self.step(Ok(EditStep::Enable(Change::Tools, name.to_owned())))
    }

    /// Disables the tool with this name, if it exists: it is not listed and cannot be called, but
    /// its name stays taken.
    pub fn disable_tool(self, name: &str) -> Self {
        self.step(Ok(EditStep::Disable(Change::Tools, name.to_owned())))
    }

    /// Adds a prompt. If its name is taken, [`apply`](Self::apply) fails.
    pub fn add_prompt<X>(self, prompt: impl IntoPrompt<X>) -> Self {
        let prompt = setup::prompt(prompt.into_prompt(), &self.catalog.states);
        self.step(prompt.map(EditStep::Add))
    }

    /// Adds a prompt, or replaces the prompt that has the same name. Calls in progress finish with
    /// the old prompt.
    pub fn replace_prompt<X>(self, prompt: impl IntoPrompt<X>) -> Self {
        let prompt = setup::prompt(prompt.into_prompt(), &self.catalog.states);
        self.step(prompt.map(EditStep::Replace))
    }

    /// Removes the prompt with this name, if it exists.
    pub fn remove_prompt(self, name: &str) -> Self {
        self.step(Ok(EditStep::Remove(Change::Prompts, name.to_owned())))
    }

    /// Adds a resource or a template. If its URI is taken, [`apply`](Self::apply) fails.
    pub fn add_resource<X>(self, resource: impl IntoResource<X>) -> Self {
        let resource = setup::resource(resource.into_resource(), &self.catalog.states);
        self.step(resource.map(EditStep::Add))
    }

    /// Adds a resource or a template, or replaces the entry that has the same URI.
    pub fn replace_resource<X>(self, resource: impl IntoResource<X>) -> Self {
        let resource = setup::resource(resource.into_resource(), &self.catalog.states);
        self.step(resource.map(EditStep::Replace))
    }

    /// Removes the resource or the template with this URI, if it exists.
    pub fn remove_resource(self, uri: &str) -> Self {
        self.step(Ok(EditStep::Remove(Change::Resources, uri.to_owned())))
    }

    /// Makes all changes at once, and notifies clients once for each list that changed.
    ///
    /// # Errors
    /// [`SetupError`] if an added name or URI exists already, or if an added entry is invalid. The
    /// catalog is unchanged then.
    pub fn apply(self) -> Result<(), SetupError> {
        self.commit().map(drop)
    }

    pub(super) fn commit(self) -> Result<ChangedLists, SetupError> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let steps = self.steps;
        let changed = self.catalog.change(|snapshot| make(snapshot, steps))?;
        for (is_changed, list) in [
            (changed.tools, Change::Tools),
            (changed.prompts, Change::Prompts),
            (changed.resources, Change::Resources),
        ] {
            if is_changed {
                self.catalog.changes.publish(list);
            }
        }
        Ok(changed)
    }

    fn step(mut self, step: Result<EditStep, SetupError>) -> Self {
        match step {
            Ok(step) => self.steps.push(step),
            // Only the first mistake is reported.
            Err(problem) => self.problem = self.problem.or(Some(problem)),
        }
        self
    }
}

fn make(snapshot: &mut Snapshot, steps: Vec<EditStep>) -> Result<ChangedLists, SetupError> {
    let mut changed = ChangedLists::default();
    for step in steps {
        let (list, is_made) = match step {
            EditStep::Add(entry) => {
                let list = entry.list();
                snapshot.insert(entry)?;
                (list, true)
            }
            EditStep::Replace(entry) => {
                let list = entry.list();
                snapshot.replace(entry);
                (list, true)
            }
            EditStep::Remove(list, key) => {
                let is_made = remove(snapshot, &list, &key);
                (list, is_made)
            }
            EditStep::Enable(list, key) => (list, snapshot.tools.enable(&key)),
            EditStep::Disable(list, key) => (list, snapshot.tools.disable(&key)),
        };
        if is_made {
            changed.mark(&list);
        }
    }
    Ok(changed)
}

fn remove(snapshot: &mut Snapshot, list: &Change, key: &str) -> bool {
    match list {
        Change::Tools => snapshot.tools.remove(key),
        Change::Prompts => snapshot.prompts.remove(key),
        _ => snapshot.resources.remove(key) || snapshot.templates.remove(key),
    }
}
