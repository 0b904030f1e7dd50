//! Chat completions of OpenAI, and of servers that speak the same.

use futures_core::future::BoxFuture;
use serde_json::{Value, json};
use turnbuckle_protocol::{CreateMessageRequestParams, Tool};

use super::asking::Asking;
use super::endpoint::{ApiSettings, Endpoint, KeyHeader};
use super::key::ApiKey;
use super::openai_stream::Chunks;
use crate::error::ModelError;
use crate::format::{Answer, Format, Rewrite};
use crate::model::{Delta, Model};

/// Where OpenAI itself is.
const OPENAI: &str = "https://api.openai.com/v1";

/// A model behind the chat completions of OpenAI, or of a server that speaks the same: Ollama,
/// llama.cpp, vLLM and others.
///
/// ```
/// use turnbuckle_models::{ApiSettings, Model, OpenAi};
///
/// let model = OpenAi::compatible("http://localhost:11434/v1", "llama3.2", None, ApiSettings::new())?;
/// assert_eq!(model.name(), "llama3.2");
/// # Ok::<(), turnbuckle_models::ModelError>(())
/// ```
pub struct OpenAi {
    asking: Asking,
    limit_name: &'static str,
}

impl OpenAi {
    /// A model of OpenAI.
    ///
    /// # Errors
    /// If the key or the settings cannot be used.
    pub fn new(
        model: impl Into<String>,
        key: ApiKey,
        settings: ApiSettings,
    ) -> Result<Self, ModelError> {
        let mut model = Self::compatible(OPENAI, model, Some(key), settings)?;
        model.limit_name = "max_completion_tokens";
        Ok(model)
    }

    /// A model of another server. The URL is the part before `/chat/completions`, often ending in
    /// `/v1`.
    ///
    /// # Errors
    /// If the URL, the key or the settings cannot be used, or the key would be sent without TLS to
    /// another machine.
    pub fn compatible(
        url: &str,
        model: impl Into<String>,
        key: Option<ApiKey>,
        settings: ApiSettings,
    ) -> Result<Self, ModelError> {
        let key = key.map(|key| (key, KeyHeader::Bearer));
        let endpoint = Endpoint::open(url, "chat/completions", key, settings)?;
        Ok(Self {
            asking: Asking::new(model.into(), Format::OpenAiChat, endpoint),
            // The name that all servers know. OpenAI's newer models want another.
            limit_name: "max_tokens",
        })
    }

    /// Settings for this API only.
    fn complete(&self, body: &mut Value) {
        body["stream_options"] = json!({"include_usage": true});
        if let Some(body) = body.as_object_mut()
            && let Some(limit) = body.shift_remove("max_completion_tokens")
        {
            body.insert(self.limit_name.to_owned(), limit);
        }
    }
}

impl Model for OpenAi {
    fn name(&self) -> &str {
        &self.asking.model
    }

    fn answer<'a>(
        &'a self,
        params: &'a CreateMessageRequestParams,
        report: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        let complete = |body: &mut Value| self.complete(body);
        Box::pin(self.asking.ask(params, complete, Chunks::new, report))
    }

    fn rewrites(&self, tools: &[Tool]) -> Vec<Rewrite> {
        self.asking.rewrites(tools)
    }
}
