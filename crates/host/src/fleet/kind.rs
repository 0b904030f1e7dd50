//! The kinds of lists: tools, prompts, resources and resource templates.

use serde::{Serialize, de::DeserializeOwned};
use turnbuckle_protocol::{Prompt, Resource, ResourceTemplate, Tool};

/// A type of entries that servers list.
pub(crate) trait Kind: Serialize + DeserializeOwned + Send + Sync + 'static {
    const METHOD: &'static str;
    /// The member of a page that contains the entries.
    const MEMBER: &'static str;
    /// The noun for an entry in reports of problems.
    const NOUN: &'static str;

    /// The name or URI that identifies the entry in its list.
    fn key(&self) -> &str;
}

impl Kind for Tool {
    const METHOD: &'static str = "tools/list";
    const MEMBER: &'static str = "tools";
    const NOUN: &'static str = "tool";

    fn key(&self) -> &str {
        &self.name
    }
}

impl Kind for Prompt {
    const METHOD: &'static str = "prompts/list";
    const MEMBER: &'static str = "prompts";
    const NOUN: &'static str = "prompt";

    fn key(&self) -> &str {
        &self.name
    }
}

impl Kind for Resource {
    const METHOD: &'static str = "resources/list";
    const MEMBER: &'static str = "resources";
    const NOUN: &'static str = "resource";

    fn key(&self) -> &str {
        &self.uri
    }
}

impl Kind for ResourceTemplate {
    const METHOD: &'static str = "resources/templates/list";
    const MEMBER: &'static str = "resourceTemplates";
    const NOUN: &'static str = "resource template";

    fn key(&self) -> &str {
        &self.uri_template
    }
}
