//! What the client answers, and what it hears.

use std::sync::Mutex;

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::*,
    service::{NotificationContext, RequestContext},
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::watch;

/// Everything that the server told, in order.
pub(crate) struct Heard {
    pub(crate) reports: Mutex<Vec<(ProgressToken, f64)>>,
    pub(crate) logs: watch::Sender<Vec<Value>>,
    pub(crate) updated: watch::Sender<Vec<String>>,
    /// How often the list of tools changed.
    pub(crate) tools: watch::Sender<u32>,
}

impl Default for Heard {
    fn default() -> Self {
        Self {
            reports: Mutex::default(),
            logs: watch::Sender::new(Vec::new()),
            updated: watch::Sender::new(Vec::new()),
            tools: watch::Sender::new(0),
        }
    }
}

/// A value of the SDK from its JSON.
pub(crate) fn value<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the JSON in this program fits the SDK's types")
}

#[allow(
    deprecated,
    reason = "what the newest revision leaves behind still has to work"
)]
impl ClientHandler for Heard {
    fn get_info(&self) -> ClientConfig {
        let capabilities = json!({
            "elicitation": { "form": {}, "url": {} },
            "sampling": {},
            "roots": {},
            "extensions": { "io.modelcontextprotocol/tasks": {} },
        });
        ClientConfig::new(value(capabilities), Implementation::new("interop", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(match request {
            ElicitRequestParams::UrlElicitationParams { .. } => {
                value(json!({ "action": "accept" }))
            }
            _ => value(json!({
                "action": "accept",
                "content": { "name": "Ada", "tone": "formal" },
            })),
        })
    }

    /// Repeats the last words of what the model is asked.
    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let asked = serde_json::to_value(&request.messages).unwrap_or_default();
        let content = &asked[0]["content"];
        let content = content.get(0).unwrap_or(content);
        let text = content["text"].as_str().unwrap_or_default();
        let text = text.replace("Write a line about", "About");
        Ok(value(json!({
            "model": "interop",
            "role": "assistant",
            "content": { "type": "text", "text": text },
        })))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(value(json!({ "roots": [{ "uri": "file:///interop" }] })))
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if let Ok(mut reports) = self.reports.lock() {
            reports.push((report.progress_token, report.progress));
        }
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let message = serde_json::to_value(message).unwrap_or_default();
        self.logs.send_modify(|all| all.push(message));
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.updated.send_modify(|all| all.push(updated.uri));
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.tools.send_modify(|count| *count += 1);
    }
}
