//! Sampling: asking the client's model.

mod content;
mod message;
mod params;

pub use content::{SamplingContent, ToolResultContent, ToolUseContent};
pub use message::{CreateMessageResult, SamplingMessage, StopReason};
pub use params::{
    CreateMessageRequestParams, IncludeContext, ModelHint, ModelPreferences, ToolChoice,
    ToolChoiceMode,
};
