//! The capabilities of a client.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::settings;
use crate::{JsonObject, extension, setter::setters};

/// The capabilities of a client: fixed at `initialize` in a session, sent with each modern request.
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
    /// It can list roots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<RootsCapability>,
    /// It can ask a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// It can ask a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
    /// It can run what it is asked as a task. Only in 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<ClientTasksCapability>,
    /// The extensions it knows, each with its settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<JsonObject>,
    /// Unknown members, kept as they came.
    #[serde(flatten)]
    pub other: JsonObject,
}

impl ClientCapabilities {
    /// Nothing at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// It can list roots.
    pub fn with_roots(mut self) -> Self {
        self.roots.get_or_insert_default();
        self
    }

    /// It can ask a model.
    pub fn with_sampling(mut self) -> Self {
        self.sampling.get_or_insert_default();
        self
    }

    /// It can ask a model that may call tools.
    pub fn with_sampling_tools(mut self) -> Self {
        self.sampling
            .get_or_insert_default()
            .tools
            .get_or_insert_default();
        self
    }

    /// It can give the model context of this server, or of all of them.
    pub fn with_sampling_context(mut self) -> Self {
        self.sampling
            .get_or_insert_default()
            .context
            .get_or_insert_default();
        self
    }

    /// It can show a user a form.
    pub fn with_form_elicitation(mut self) -> Self {
        self.elicitation
            .get_or_insert_default()
            .form
            .get_or_insert_default();
        self
    }

    /// It can send a user to a URL.
    pub fn with_url_elicitation(mut self) -> Self {
        self.elicitation
            .get_or_insert_default()
            .url
            .get_or_insert_default();
        self
    }

    /// It knows an extension.
    pub fn with_extension(mut self, id: impl Into<String>, settings: JsonObject) -> Self {
        self.extensions
            .get_or_insert_default()
            .insert(id.into(), settings.into());
        self
    }

    /// Whether it can show a user a form: also when elicitation is declared without any mode.
    pub fn has_form_elicitation(&self) -> bool {
        self.elicitation
            .as_ref()
            .is_some_and(ElicitationCapability::has_form)
    }

    /// Whether it can send a user to a URL.
    pub fn has_url_elicitation(&self) -> bool {
        self.elicitation
            .as_ref()
            .is_some_and(|elicitation| elicitation.url.is_some())
    }

    /// Whether it can ask a model that may call tools.
    pub fn has_sampling_tools(&self) -> bool {
        self.sampling
            .as_ref()
            .is_some_and(|sampling| sampling.tools.is_some())
    }

    /// The settings of an extension, if it knows it; wherever its revision declares it.
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

/// It can list roots.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RootsCapability {
    /// It says when they change. Until 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_changed: Option<bool>,
    /// Unknown members, kept as they came.
    #[serde(flatten)]
    pub other: JsonObject,
}

setters! {
    impl RootsCapability {
        fn with_list_changed(list_changed: bool);
    }
}

/// It can ask a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SamplingCapability {
    /// It can add context from servers.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub context: Option<JsonObject>,
    /// Its model can call tools.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub tools: Option<JsonObject>,
    /// Unknown members, kept as they came.
    #[serde(flatten)]
    pub other: JsonObject,
}

/// It can ask a user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// With a form.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub form: Option<JsonObject>,
    /// By sending them to a URL.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub url: Option<JsonObject>,
    /// Unknown members, kept as they came.
    #[serde(flatten)]
    pub other: JsonObject,
}

impl ElicitationCapability {
    /// Whether forms are meant: named, or no mode named at all.
    pub fn has_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }
}

/// The requests that a client can run as a task. Only in 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientTasksCapability {
    /// It answers `tasks/list`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub list: Option<JsonObject>,
    /// It answers `tasks/cancel`.
    #[serde(
        default,
        deserialize_with = "settings::lenient",
        skip_serializing_if = "Option::is_none"
    )]
    pub cancel: Option<JsonObject>,
    /// The requests that may become tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ClientTaskRequests>,
    /// Unknown members, kept as they came.
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
    /// Asking a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingTasks>,
    /// Asking a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationTasks>,
    /// Unknown members, kept as they came.
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
