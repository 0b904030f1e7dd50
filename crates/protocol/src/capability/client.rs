//! The capabilities of a client.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::settings;
use crate::{JsonObject, extension, setter::setters};

/// The capabilities of a client: negotiated once by `initialize` in a session, and sent with each
/// modern request.
///
/// ```
/// use turnbuckle_protocol::ClientCapabilities;
///
/// let capabilities = ClientCapabilities::new().with_form_elicitation().with_sampling();
/// assert!(capabilities.has_form_elicitation());
/// assert!(!capabilities.has_url_elicitation());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Capabilities that are not in any specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<JsonObject>,
    /// The capability `roots`: the client answers `roots/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<RootsCapability>,
    /// The capability `sampling`: the client can ask a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// The capability `elicitation`: the client can ask the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
    /// The requests that the client can run as tasks. Only in 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<ClientTasksCapability>,
    /// The extensions that the client supports, each with its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<JsonObject>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

impl ClientCapabilities {
    /// Creates an empty set of capabilities.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares roots: the client answers `roots/list`.
    pub fn with_roots(mut self) -> Self {
        self.roots.get_or_insert_default();
        self
    }

    /// Declares sampling: the client can ask a model.
    pub fn with_sampling(mut self) -> Self {
        self.sampling.get_or_insert_default();
        self
    }

    /// Declares sampling with tools: the client can ask a model that calls tools.
    pub fn with_sampling_tools(mut self) -> Self {
        self.sampling
            .get_or_insert_default()
            .tools
            .get_or_insert_default();
        self
    }

    /// Declares sampling with context: the client can add context from this server, or from all
    /// servers, to a sampling request (`includeContext`).
    pub fn with_sampling_context(mut self) -> Self {
        self.sampling
            .get_or_insert_default()
            .context
            .get_or_insert_default();
        self
    }

    /// Declares elicitation in form mode: the client can show forms to the user.
    pub fn with_form_elicitation(mut self) -> Self {
        self.elicitation
            .get_or_insert_default()
            .form
            .get_or_insert_default();
        self
    }

    /// Declares elicitation in URL mode: the client can send the user to a URL.
    pub fn with_url_elicitation(mut self) -> Self {
        self.elicitation
            .get_or_insert_default()
            .url
            .get_or_insert_default();
        self
    }

    /// Declares an extension with its settings.
    pub fn with_extension(mut self, id: impl Into<String>, settings: JsonObject) -> Self {
        self.extensions
            .get_or_insert_default()
            .insert(id.into(), settings.into());
        self
    }

    /// Whether the client can show forms to the user. Elicitation without any mode means form mode.
    pub fn has_form_elicitation(&self) -> bool {
        self.elicitation
            .as_ref()
            .is_some_and(ElicitationCapability::has_form)
    }

    /// Whether the client can send the user to a URL.
    pub fn has_url_elicitation(&self) -> bool {
        self.elicitation
            .as_ref()
            .is_some_and(|elicitation| elicitation.url.is_some())
    }

    /// Whether the client can ask a model that calls tools.
    pub fn has_sampling_tools(&self) -> bool {
        self.sampling
            .as_ref()
            .is_some_and(|sampling| sampling.tools.is_some())
    }

    /// Returns the settings of an extension, or `None` if the client does not declare it. Looks into
    /// `extensions` and `experimental`, because older revisions have no `extensions`.
    pub fn extension(&self, id: &str) -> Option<&Value> {
        extension::find(self.extensions.as_ref(), self.experimental.as_ref(), id)
    }
}

setters! {
    impl ClientCapabilities {
        fn with_experimental(experimental: JsonObject);
        fn with_tasks(tasks: ClientTasksCapability);
    }
}

/// The capability `roots`: the client answers `roots/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RootsCapability {
    /// Whether the client sends `notifications/roots/list_changed`. Until 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

setters! {
    impl RootsCapability {
        fn with_list_changed(list_changed: bool);
    }
}

/// The capability `sampling`: the client can ask a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// The client can add context from servers (`includeContext`).
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<JsonObject>,
    /// The client's model can call tools.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub tools: Option<JsonObject>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

/// The capability `elicitation`: the client can ask the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// Form mode: the user fills in a form.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub form: Option<JsonObject>,
    /// URL mode: the user visits a web page.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub url: Option<JsonObject>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

impl ElicitationCapability {
    /// Whether form mode is supported: it is declared, or no mode is declared.
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }
}

/// The requests that a client can run as a task. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientTasksCapability {
    /// The client answers `tasks/list`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub list: Option<JsonObject>,
    /// The client answers `tasks/cancel`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub cancel: Option<JsonObject>,
    /// The requests that may become tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ClientTaskRequests>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

setters! {
    impl ClientTasksCapability {
        fn with_list(list: JsonObject);
        fn with_cancel(cancel: JsonObject);
        fn with_requests(requests: ClientTaskRequests);
    }
}

/// The requests to a client that may become tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientTaskRequests {
    /// Sampling requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingTasks>,
    /// Elicitation requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationTasks>,
    /// Unknown members, kept unchanged.
    #[serde(flatten)]
    pub other: JsonObject,
}

setters! {
    impl ClientTaskRequests {
        fn with_sampling(sampling: SamplingTasks);
        fn with_elicitation(elicitation: ElicitationTasks);
    }
}

/// The sampling requests that may become tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingTasks {
    /// `sampling/createMessage`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub create_message: Option<JsonObject>,
}

/// The elicitation requests that may become tasks. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitationTasks {
    /// `elicitation/create`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub create: Option<JsonObject>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // rule: E1
    #[test]
    fn elicitation_without_a_mode_means_forms() {
        let capabilities: ClientCapabilities =
            serde_json::from_value(json!({"elicitation": {}})).unwrap();
        assert!(capabilities.has_form_elicitation());
        assert!(!capabilities.has_url_elicitation());

        let capabilities = ClientCapabilities::new().with_url_elicitation();
        assert!(!capabilities.has_form_elicitation());
    }

    #[test]
    fn what_is_not_known_survives() {
        let json = json!({"roots": {"depth": 3}, "holograms": {"colour": true}});
        let capabilities: ClientCapabilities = serde_json::from_value(json.clone()).unwrap();
        assert_eq!(serde_json::to_value(&capabilities).unwrap(), json);
    }

    #[test]
    fn leaves_may_be_booleans() {
        let json = json!({"tasks": {"list": true, "cancel": false}});
        let capabilities: ClientCapabilities = serde_json::from_value(json).unwrap();
        assert_eq!(
            serde_json::to_value(&capabilities).unwrap(),
            json!({"tasks": {"list": {}}})
        );
    }
}
