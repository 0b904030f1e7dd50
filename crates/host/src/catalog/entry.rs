//! The entries of the catalog.

use std::sync::Arc;

use turnbuckle_protocol::{Prompt, Resource, ResourceTemplate, Role, Tool};
use turnbuckle_uri_template::Template;

use crate::{fleet::Listed, id::ServerId};

/// About how many bytes of text are one token of a model.
const BYTES_PER_TOKEN: u64 = 4;

/// A tool of a server, under the name that the host gives it.
#[derive(Clone, Debug)]
pub struct CatalogTool {
    pub(crate) name: Arc<str>,
    pub(crate) server: ServerId,
    pub(crate) listed: Listed<Tool>,
}

impl CatalogTool {
    /// The name in the host, by which it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server that has it.
    pub fn server(&self) -> &ServerId {
        &self.server
    }

    /// The tool as its server describes it, under its server's name for it.
    pub fn tool(&self) -> &Tool {
        &self.listed.value
    }

    /// The tool under its name in the host, as a model is given it.
    pub fn to_tool(&self) -> Tool {
        let mut tool = Tool::clone(&self.listed.value);
        tool.name = self.name.to_string();
        tool
    }

    /// The entry as the server wrote it.
    pub fn text(&self) -> &str {
        self.listed.text()
    }
}

/// A prompt of a server, under the name that the host gives it.
#[derive(Clone, Debug)]
pub struct CatalogPrompt {
    pub(crate) name: Arc<str>,
    pub(crate) server: ServerId,
    pub(crate) listed: Listed<Prompt>,
}

impl CatalogPrompt {
    /// The name in the host, by which it is got.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server that has it.
    pub fn server(&self) -> &ServerId {
        &self.server
    }

    /// The prompt as its server describes it.
    pub fn prompt(&self) -> &Prompt {
        &self.listed.value
    }

    /// The entry as the server wrote it.
    pub fn text(&self) -> &str {
        self.listed.text()
    }
}

/// A resource of a server. Its URI is the server's own.
#[derive(Clone, Debug)]
pub struct CatalogResource {
    pub(crate) server: ServerId,
    pub(crate) listed: Listed<Resource>,
}

impl CatalogResource {
    /// The server that has it.
    pub fn server(&self) -> &ServerId {
        &self.server
    }

    /// The resource as its server describes it.
    pub fn resource(&self) -> &Resource {
        &self.listed.value
    }

    /// The entry as the server wrote it.
    pub fn text(&self) -> &str {
        self.listed.text()
    }

    /// Whether it is meant for a model. A resource without an audience is meant for models and
    /// users.
    pub fn is_for_model(&self) -> bool {
        let annotations = self.resource().annotations.as_ref();
        annotations
            .and_then(|annotations| annotations.audience.as_ref())
            .is_none_or(|audience| audience.is_empty() || audience.contains(&Role::Assistant))
    }

    /// How much it matters, from 0 to 1; 0.5 for a resource that says nothing.
    pub fn priority(&self) -> f64 {
        let annotations = self.resource().annotations.as_ref();
        annotations
            .and_then(|annotations| annotations.priority)
            .filter(|priority| priority.is_finite())
            .map_or(0.5, |priority| priority.clamp(0.0, 1.0))
    }

    /// About how many tokens of a model it takes, if the server says how large it is.
    pub fn estimated_tokens(&self) -> Option<u64> {
        self.resource().size.map(tokens)
    }
}

/// About how many tokens of a model so many bytes take.
pub(crate) fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// A family of resources of a server.
#[derive(Clone, Debug)]
pub struct CatalogTemplate {
    pub(crate) server: ServerId,
    pub(crate) listed: Listed<ResourceTemplate>,
    /// `None` if the server's template cannot be read.
    pub(crate) template: Option<Arc<Template>>,
}

impl CatalogTemplate {
    /// The server that has it.
    pub fn server(&self) -> &ServerId {
        &self.server
    }

    /// The template as its server describes it.
    pub fn template(&self) -> &ResourceTemplate {
        &self.listed.value
    }

    /// Whether a URI belongs to this family.
    pub fn matches(&self, uri: &str) -> bool {
        self.template
            .as_ref()
            .is_some_and(|template| template.matches(uri).is_some())
    }
}
