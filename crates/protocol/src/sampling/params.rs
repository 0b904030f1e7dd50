//! The params of `sampling/createMessage`.

use serde::{Deserialize, Serialize};

use super::SamplingMessage;
use crate::{
    JsonObject, Meta, OtherMembers, Tool, json, setter::setters, task_metadata::TaskMetadata,
};

/// The params of `sampling/createMessage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CreateMessageRequestParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// The server's preferences for a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// The system prompt for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Which servers' context the client should add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// The temperature of the model.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub temperature: Option<f64>,
    /// The maximum number of tokens to generate.
    #[serde(deserialize_with = "json::whole")]
    pub max_tokens: u64,
    /// Sequences at which the model stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<String>>,
    /// Additional settings for the provider of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// Tools that the model may call. Since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// Whether the model may or must call tools. Since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Requests that the answer become a task. Only in 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Metadata that the sender attached (`_meta`). Until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CreateMessageRequestParams {
    /// Creates a request to continue a conversation.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            max_tokens,
            ..Self::default()
        }
    }
}

setters! {
    impl CreateMessageRequestParams {
        fn with_model_preferences(model_preferences: ModelPreferences);
        fn with_system_prompt(system_prompt: impl Into<String>);
        fn with_include_context(include_context: IncludeContext);
        fn with_temperature(temperature: f64);
        fn with_stop_sequences(stop_sequences: Vec<String>);
        fn with_metadata(metadata: JsonObject);
        fn with_tools(tools: Vec<Tool>);
        fn with_tool_choice(tool_choice: ToolChoice);
        fn with_task(task: TaskMetadata);
        fn with_meta(meta: Meta);
    }
}

/// The server's preferences for a model; the client decides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelPreferences {
    /// Names of models, or parts of names, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<ModelHint>>,
    /// How important a low price is, from 0 to 1.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub cost_priority: Option<f64>,
    /// How important speed is, from 0 to 1.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub speed_priority: Option<f64>,
    /// How important capability is, from 0 to 1.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub intelligence_priority: Option<f64>,
}

impl ModelPreferences {
    /// Creates empty preferences.
    pub fn new() -> Self {
        Self::default()
    }
}

setters! {
    impl ModelPreferences {
        fn with_hints(hints: Vec<ModelHint>);
        fn with_cost_priority(cost_priority: f64);
        fn with_speed_priority(speed_priority: f64);
        fn with_intelligence_priority(intelligence_priority: f64);
    }
}

/// A hint for choosing a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelHint {
    /// The name of a model, or a part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Members that the specification does not name.
    #[serde(flatten)]
    pub other: OtherMembers,
}

impl ModelHint {
    /// Creates a hint with the name of a model, or a part of it.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            other: OtherMembers::new(),
        }
    }
}

/// Which servers' context the client should add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum IncludeContext {
    /// No context.
    None,
    /// The context of the requesting server.
    ThisServer,
    /// The context of all servers.
    AllServers,
}

/// Whether the model may or must call tools. Since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolChoice {
    /// The rule; [`ToolChoiceMode::Auto`] if it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

impl ToolChoice {
    /// Creates a choice with this rule.
    pub fn new(mode: ToolChoiceMode) -> Self {
        Self { mode: Some(mode) }
    }
}

/// The rule for calling tools. Since 2025-11-25.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ToolChoiceMode {
    /// The model decides.
    #[default]
    Auto,
    /// The model must call at least one tool.
    Required,
    /// The model must not call tools.
    None,
}
