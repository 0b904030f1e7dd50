//! The capabilities of a server.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::settings;
use crate::{JsonObject, extension, setter::setters};

/// The capabilities of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Capabilities that are not in any specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<JsonObject>,
    /// The server sends log messages.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub logging: Option<JsonObject>,
    /// The server answers `completion/complete`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub completions: Option<JsonObject>,
    /// The server has prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PromptsCapability>,
    /// The server has resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// The server has tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsCapability>,
    /// The requests that the server can run as tasks. Only in 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<ServerTasksCapability>,
    /// The extensions that the server supports, each with its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<JsonObject>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

impl ServerCapabilities {
    /// Creates an empty set of capabilities.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares an extension with its settings.
    pub fn with_extension(mut self, id: impl Into<String>, settings: JsonObject) -> Self {
        self.extensions
            .get_or_insert_default()
            .insert(id.into(), settings.into());
        self
    }

    /// Returns the settings of an extension, or `None` if the server does not declare it. Looks into
    /// `extensions` and `experimental`, because older revisions have no `extensions`.
    pub fn extension(&self, id: &str) -> Option<&Value> {
        extension::find(self.extensions.as_ref(), self.experimental.as_ref(), id)
    }

    /// Declares logging: the server sends log messages.
    pub fn with_logging(mut self) -> Self {
        self.logging.get_or_insert_default();
        self
    }

    /// Declares completion: the server answers `completion/complete`.
    pub fn with_completions(mut self) -> Self {
        self.completions.get_or_insert_default();
        self
    }
}

setters! {
    impl ServerCapabilities {
        fn with_experimental(experimental: JsonObject);
        fn with_prompts(prompts: PromptsCapability);
        fn with_resources(resources: ResourcesCapability);
        fn with_tools(tools: ToolsCapability);
        fn with_tasks(tasks: ServerTasksCapability);
    }
}

/// The capability `prompts`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptsCapability {
    /// Whether the server notifies clients when the list changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

setters! {
    impl PromptsCapability {
        fn with_list_changed(list_changed: bool);
    }
}

/// The capability `resources`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Whether clients can subscribe to changes of single resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subscribe: Option<bool>,
    /// Whether the server notifies clients when the list changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

setters! {
    impl ResourcesCapability {
        fn with_subscribe(subscribe: bool);
        fn with_list_changed(list_changed: bool);
    }
}

/// The capability `tools`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolsCapability {
    /// Whether the server notifies clients when the list changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

setters! {
    impl ToolsCapability {
        fn with_list_changed(list_changed: bool);
    }
}

/// The requests that a server can run as a task. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerTasksCapability {
    /// The server answers `tasks/list`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub list: Option<JsonObject>,
    /// The server answers `tasks/cancel`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub cancel: Option<JsonObject>,
    /// The requests that may become tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ServerTaskRequests>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

setters! {
    impl ServerTasksCapability {
        fn with_list(list: JsonObject);
        fn with_cancel(cancel: JsonObject);
        fn with_requests(requests: ServerTaskRequests);
    }
}

/// The requests to a server that may become tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ServerTaskRequests {
    /// Calling tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsTasks>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

setters! {
    impl ServerTaskRequests {
        fn with_tools(tools: ToolsTasks);
    }
}

/// The tool requests that may become tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolsTasks {
    /// `tools/call`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub call: Option<JsonObject>,
}
