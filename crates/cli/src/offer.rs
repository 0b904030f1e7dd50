//! The lists and capabilities of a server.

use serde_json::{Value, json};
use turnbuckle::{
    CallError, Connection,
    protocol::{
        Prompt, PromptsCapability, Resource, ResourceTemplate, ResourcesCapability,
        ServerCapabilities, Tool, ToolsCapability,
    },
};
use turnbuckle_command_line::failure::{Failed, Outcome};

/// Everything that a server offers.
#[derive(Default, PartialEq)]
pub(crate) struct Offer {
    pub(crate) tools: Vec<Tool>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
}

impl Offer {
    /// Asks for every list that the server has.
    pub(crate) async fn read(connection: &Connection) -> Outcome<Self> {
        // If a server does not declare its capabilities, everything is requested.
        let everything = ServerCapabilities::new()
            .with_tools(ToolsCapability::default())
            .with_prompts(PromptsCapability::default())
            .with_resources(ResourcesCapability::default());
        let capabilities = connection.server().capabilities().unwrap_or(&everything);
        let mut offer = Self::default();
        if capabilities.tools.is_some() {
            offer.tools = connection.tools().await?;
        }
        if capabilities.prompts.is_some() {
            offer.prompts = connection.prompts().await?;
        }
        if capabilities.resources.is_some() {
            offer.resources = connection.resources().await?;
            // Some servers offer resources but do not support templates.
            offer.templates = connection.resource_templates().await.unwrap_or_default();
        }
        Ok(offer)
    }

    /// The same if some lists cannot be read: the lists that could be read, and the error.
    pub(crate) async fn read_what_there_is(
        connection: &Connection,
    ) -> Outcome<(Self, Option<Failed>)> {
        let mut failures = Vec::new();
        let mut offer = Self::default();
        let capabilities = connection.server().capabilities();
        let has = |wanted: fn(&ServerCapabilities) -> bool| capabilities.is_none_or(wanted);
        if has(|all| all.tools.is_some()) {
            offer.tools = kept(connection.tools().await, "tools", &mut failures);
        }
        if has(|all| all.prompts.is_some()) {
            offer.prompts = kept(connection.prompts().await, "prompts", &mut failures);
        }
        if has(|all| all.resources.is_some()) {
            offer.resources = kept(connection.resources().await, "resources", &mut failures);
            offer.templates = connection.resource_templates().await.unwrap_or_default();
        }
        let is_anything = offer != Self::default();
        match failures.into_iter().next() {
            Some((_, failed)) if !is_anything => Err(failed),
            Some((list, failed)) => Ok((offer, Some(failed.of(&format!("the list of {list}"))))),
            None => Ok((offer, None)),
        }
    }

    /// What `turnbuckle list --json` prints.
    pub(crate) fn to_json(&self, connection: &Connection) -> Value {
        let server = connection.server();
        json!({
            "server": server.implementation(),
            "revision": server.revision().to_string(),
            "capabilities": server.capabilities(),
            "instructions": server.instructions(),
            "tools": self.tools,
            "prompts": self.prompts,
            "resources": self.resources,
            "resourceTemplates": self.templates,
        })
    }
}

/// A list, or an empty list and the error.
fn kept<T>(
    read: Result<Vec<T>, CallError>,
    list: &'static str,
    failures: &mut Vec<(&'static str, Failed)>,
) -> Vec<T> {
    read.unwrap_or_else(|error| {
        failures.push((list, error.into()));
        Vec::new()
    })
}
