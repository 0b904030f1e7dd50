//! What a model is asked, and how.

use serde::{Deserialize, Serialize};

use super::SamplingMessage;
use crate::{JsonObject, Meta, TaskMetadata, Tool, json};

/// What `sampling/createMessage` takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageRequestParams {
    /// The conversation so far.
    pub messages: Vec<SamplingMessage>,
    /// Which model the server would like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_preferences: Option<ModelPreferences>,
    /// What the model is told first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Whose context the client adds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_context: Option<IncludeContext>,
    /// How freely the model chooses its words.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub temperature: Option<f64>,
    /// The most tokens the model may write.
    pub max_tokens: u64,
    /// Sequences to stop at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<String>>,
    /// What the provider of the model takes besides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// Tools the model may call. Since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// Whether the model may or must call them. Since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// Asks that the request become a task. Only in 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// Anything else the sender attached. Until 2025-11-25.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

impl CreateMessageRequestParams {
    /// Asks a model to go on with a conversation.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            max_tokens,
            ..Self::default()
        }
    }

    /// Says what the model is told first.
    pub fn with_system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Says which model the server would like.
    pub fn with_model_preferences(mut self, preferences: ModelPreferences) -> Self {
        self.model_preferences = Some(preferences);
        self
    }

    /// Gives the model tools.
    pub fn with_tools(mut self, tools: Vec<Tool>) -> Self {
        self.tools = Some(tools);
        self
    }
}

/// Which model the server would like; the client decides.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelPreferences {
    /// Names, or parts of names, best first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<ModelHint>>,
    /// How much a low price matters, from 0 to 1.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub cost_priority: Option<f64>,
    /// How much speed matters, from 0 to 1.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub speed_priority: Option<f64>,
    /// How much ability matters, from 0 to 1.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "json::number_option"
    )]
    pub intelligence_priority: Option<f64>,
}

/// A hint at a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelHint {
    /// A name, or part of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Whose context the client adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IncludeContext {
    /// Nobody's.
    None,
    /// That of the server that asks.
    ThisServer,
    /// That of every server.
    AllServers,
}

/// Whether the model may or must call tools. Since 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolChoice {
    /// The rule; [`ToolChoiceMode::Auto`] if not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<ToolChoiceMode>,
}

/// The rule for calling tools. Since 2025-11-25.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolChoiceMode {
    /// The model decides.
    #[default]
    Auto,
    /// It must call at least one.
    Required,
    /// It must not call any.
    None,
}
