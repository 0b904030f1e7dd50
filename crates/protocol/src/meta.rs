//! `_meta`: metadata of a message, and the keys that the protocol defines.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::{
    ClientCapabilities, Implementation, envelope::Id, grammar::is_meta_key, json::JsonObject,
    task_metadata::RelatedTask,
};

/// Keys of `_meta` that the protocol defines.
pub mod key {
    /// The token for the progress notifications of a request.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// The revision of a modern request.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// The client's capabilities in a modern request.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// The client's name and version in a modern request.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// The minimum severity of the log messages that a modern request asks for.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// The listen request that a modern notification belongs to.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// The server's name and version in a modern result.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// The task that a message of 2025-11-25 belongs to.
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// A message for the model while a task of 2025-11-25 runs.
    pub const MODEL_IMMEDIATE_RESPONSE: &str = "io.modelcontextprotocol/model-immediate-response";
    /// The W3C trace parent.
    pub const TRACEPARENT: &str = "traceparent";
    /// The W3C trace state.
    pub const TRACESTATE: &str = "tracestate";
    /// The W3C baggage.
    pub const BAGGAGE: &str = "baggage";

    /// The keys that only 2026-07-28 and later define.
    pub(crate) const MODERN: [&str; 6] = [
        PROTOCOL_VERSION,
        CLIENT_CAPABILITIES,
        CLIENT_INFO,
        LOG_LEVEL,
        SUBSCRIPTION_ID,
        SERVER_INFO,
    ];
    /// The keys that only 2025-11-25 defines.
    pub(crate) const TASK: [&str; 2] = [RELATED_TASK, MODEL_IMMEDIATE_RESPONSE];
}

/// The `_meta` of a message or a value: an open map with a few reserved keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Meta(pub JsonObject);

impl Meta {
    /// Creates an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns whether no key is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the value of a key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Returns the first key that breaks the grammar of [`is_meta_key`]; `None` if all are valid.
    pub fn invalid_key(&self) -> Option<&str> {
        let mut keys = self.0.keys().map(String::as_str);
        keys.find(|key| !is_meta_key(key))
    }

    /// Sets a key. If the value cannot be serialised as JSON, the map is not changed.
    pub fn with(mut self, key: &str, value: impl Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.0.insert(key.to_owned(), value);
        }
        self
    }

    /// Removes keys.
    pub fn remove(&mut self, keys: &[&str]) {
        for key in keys {
            // `shift_remove` keeps the order of the other keys, unlike `remove`.
            self.0.shift_remove(*key);
        }
    }

    /// Returns the revision of a modern request. It may be unknown here.
    pub fn protocol_version(&self) -> Option<&str> {
        self.value(key::PROTOCOL_VERSION)?.as_str()
    }

    /// Returns the client's capabilities in a modern request.
    pub fn client_capabilities(&self) -> Option<ClientCapabilities> {
        self.read(key::CLIENT_CAPABILITIES)
    }

    /// Returns the client's name and version in a modern request.
    pub fn client_info(&self) -> Option<Implementation> {
        self.read(key::CLIENT_INFO)
    }

    /// Sets the client's name and version.
    pub fn with_client_info(self, client: &Implementation) -> Self {
        self.with(key::CLIENT_INFO, client)
    }

    /// Returns the listen request that this notification or result belongs to.
    pub fn subscription_id(&self) -> Option<Id> {
        self.read(key::SUBSCRIPTION_ID)
    }

    /// Sets the listen request of a notification or result.
    pub fn with_subscription_id(self, listen: &Id) -> Self {
        self.with(key::SUBSCRIPTION_ID, listen)
    }

    /// Returns the server's name and version in a modern result.
    pub fn server_info(&self) -> Option<Implementation> {
        self.read(key::SERVER_INFO)
    }

    /// Sets the server's name and version.
    pub fn with_server_info(self, server: &Implementation) -> Self {
        self.with(key::SERVER_INFO, server)
    }

    /// Returns the task of 2025-11-25 that this message belongs to.
    pub fn related_task(&self) -> Option<RelatedTask> {
        self.read(key::RELATED_TASK)
    }

    /// Sets the task of 2025-11-25 that a message belongs to.
    pub fn with_related_task(self, task: &RelatedTask) -> Self {
        self.with(key::RELATED_TASK, task)
    }

    /// Parses the value of a key as a type. Returns `None` if it is missing or invalid.
    pub(crate) fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        T::deserialize(self.value(key)?).ok()
    }
}

impl From<JsonObject> for Meta {
    fn from(map: JsonObject) -> Self {
        Self(map)
    }
}
