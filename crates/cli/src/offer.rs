//! All that a server offers.

use serde_json::{Value, json};
use turnbuckle::{
    Connection,
    protocol::{
        Prompt, PromptsCapability, Resource, ResourceTemplate, ResourcesCapability,
        ServerCapabilities, Tool, ToolsCapability,
    },
};
use turnbuckle_command_line::failure::Outcome;

/// What a server offers.
#[derive(Default)]
pub(crate) struct Offer {
    pub(crate) tools: Vec<Tool>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
}

impl Offer {
    /// Asks for every list that the server has.
    pub(crate) async fn read(connection: &Connection) -> Outcome<Self> {
        // A server that could not say what it offers is asked for everything.
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
            // Some servers offer resources and know nothing of templates.
            offer.templates = connection.resource_templates().await.unwrap_or_default();
        }
        Ok(offer)
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
