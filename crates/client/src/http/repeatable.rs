//! Which requests may be sent a second time.

use serde::Deserialize;

use super::Http;

impl Http {
    /// Whether a request can safely run twice.
    pub(crate) fn is_repeatable(&self, method: &str, message: &[u8]) -> bool {
        match method {
            "tools/call" => tool_of(message).is_some_and(|tool| self.tools.is_repeatable(&tool)),
            "tools/list"
            | "prompts/list"
            | "prompts/get"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "completion/complete"
            | "logging/setLevel"
            | "tasks/get"
            | "tasks/list"
            | "ping" => true,
            _ => false,
        }
    }
}

fn tool_of(message: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct ToolCall {
        params: ToolName,
    }

    #[derive(Deserialize)]
    struct ToolName {
        name: String,
    }

    let call: ToolCall = serde_json::from_slice(message).ok()?;
    Some(call.params.name)
}
