//! The entries of the catalog.

use std::sync::Arc;

use turnbuckle_protocol::{Prompt, Resource, ResourceTemplate, Role, Tool};
use turnbuckle_uri_template::Template;

use crate::{fleet::Listed, id::ServerId};

/// About how many bytes of text are one token of a model.
const BYTES_PER_TOKEN: u64 = 4;

/// A tool of a server, under the name that the host gives it.
///
/// With one server tools keep their own names; with several the name is `server__tool`. Call it
/// with [`Host::call`](crate::Host::call).
#[derive(Clone, Debug)]
pub struct CatalogTool {
    pub(crate) name: Arc<str>,
    pub(crate) server: ServerId,
    pub(crate) listed: Listed<Tool>,
}

impl CatalogTool {
    /// The name in the host. [`Host::call`](crate::Host::call) and models use it. It consists of
    /// letters, digits, `_` and `-`, and has at most 64 characters, as model providers require.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of the server that has the tool. Show it beside the name where the user is asked.
    pub fn server(&self) -> &ServerId {
        &self.server
    }

    /// The tool as its server describes it, with the server's own name for it. Its annotations are
    /// unverified hints of the server.
    pub fn tool(&self) -> &Tool {
        &self.listed.value
    }

    /// Returns a copy of the tool under its name in the host. Give models this form: their calls
    /// then use the name that [`Host::call`](crate::Host::call) expects.
    pub fn to_tool(&self) -> Tool {
        let mut tool = Tool::clone(&self.listed.value);
        tool.name = self.name.to_string();
        tool
    }

    /// The entry as JSON, exactly as the server wrote it, including members that this library does
    /// not know.
    pub fn text(&self) -> &str {
        self.listed.text()
    }
}

/// A prompt of a server, under the name that the host gives it: the server's own with one server,
/// `server__prompt` with several. Get it with [`Host::get_prompt`](crate::Host::get_prompt).
#[derive(Clone, Debug)]
pub struct CatalogPrompt {
    pub(crate) name: Arc<str>,
    pub(crate) server: ServerId,
    pub(crate) listed: Listed<Prompt>,
}

impl CatalogPrompt {
    /// The name in the host. [`Host::get_prompt`](crate::Host::get_prompt) uses it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of the server that has the prompt.
    pub fn server(&self) -> &ServerId {
        &self.server
    }

    /// The prompt as its server describes it: description and arguments, and the server's own name
    /// for it.
    pub fn prompt(&self) -> &Prompt {
        &self.listed.value
    }

    /// The entry as JSON, exactly as the server wrote it, including members that this library does
    /// not know.
    pub fn text(&self) -> &str {
        self.listed.text()
    }
}

/// A resource of a server. URIs are not changed, so it is read by the server's own URI with
/// [`Host::read`](crate::Host::read).
#[derive(Clone, Debug)]
pub struct CatalogResource {
    pub(crate) server: ServerId,
    pub(crate) listed: Listed<Resource>,
}

impl CatalogResource {
    /// The id of the server that has the resource.
    pub fn server(&self) -> &ServerId {
        &self.server
    }

    /// The resource as its server describes it: URI, name, media type, size and annotations.
    pub fn resource(&self) -> &Resource {
        &self.listed.value
    }

    /// The entry as JSON, exactly as the server wrote it, including members that this library does
    /// not know.
    pub fn text(&self) -> &str {
        self.listed.text()
    }

    /// Whether the resource is meant for a model. A resource without an audience is meant for both
    /// models and users.
    pub fn is_for_model(&self) -> bool {
        let annotations = self.resource().annotations.as_ref();
        annotations
            .and_then(|annotations| annotations.audience.as_ref())
            .is_none_or(|audience| audience.is_empty() || audience.contains(&Role::Assistant))
    }

    /// The priority from the resource's annotations, from 0 (least important) to 1 (most
    /// important). Defaults to 0.5.
    pub fn priority(&self) -> f64 {
        let annotations = self.resource().annotations.as_ref();
        annotations
            .and_then(|annotations| annotations.priority)
            .filter(|priority| priority.is_finite())
            .map_or(0.5, |priority| priority.clamp(0.0, 1.0))
    }

    /// An estimate of how many tokens the resource takes in a model's context, at four bytes each.
    /// `None` if the server does not state the size.
    pub fn estimated_tokens(&self) -> Option<u64> {
        self.resource().size.map(tokens)
    }
}

/// Estimates how many tokens of a model this many bytes take.
pub(crate) fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// A resource template of a server: a family of resources whose URIs follow a pattern, such as
/// `file:///{path}`. Fill in its variables and read the URI with [`Host::read`](crate::Host::read);
/// [`Host::complete_template`](crate::Host::complete_template) proposes values.
#[derive(Clone, Debug)]
pub struct CatalogTemplate {
    pub(crate) server: ServerId,
    pub(crate) listed: Listed<ResourceTemplate>,
    /// The parsed template; `None` if the server's template is malformed.
    pub(crate) template: Option<Arc<Template>>,
}

impl CatalogTemplate {
    /// The id of the server that has the template.
    pub fn server(&self) -> &ServerId {
        &self.server
    }

    /// The template as its server describes it: pattern, name, media type and annotations.
    pub fn template(&self) -> &ResourceTemplate {
        &self.listed.value
    }

    /// Whether a URI fits the template. Always false if the pattern is malformed, which is a
    /// [`Problem`](crate::Problem) of the catalog.
    pub fn matches(&self, uri: &str) -> bool {
        self.template
            .as_ref()
            .is_some_and(|template| template.matches(uri).is_some())
    }
}
