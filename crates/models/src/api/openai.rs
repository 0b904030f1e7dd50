//! The Chat Completions API of OpenAI and compatible servers.

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

/// The URL of OpenAI's API.
const OPENAI: &str = "https://api.openai.com/v1";

/// A model that is accessed through the Chat Completions API of OpenAI or of a compatible server
/// such as Ollama, llama.cpp or vLLM.
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
    /// Makes a model of OpenAI.
    ///
    /// # Errors
    /// [`ModelError`] if the key or the settings are invalid.
    pub fn new(
        model: impl Into<String>,
        key: ApiKey,
        settings: ApiSettings,
    ) -> Result<Self, ModelError> {
        let mut model = Self::compatible(OPENAI, model, Some(key), settings)?;
        model.limit_name = "max_completion_tokens";
        Ok(model)
    }

    /// Makes a model of another server. The URL is the part before `/chat/completions`, which often
    /// ends with `/v1`.
    ///
    /// # Errors
    /// [`ModelError`] if the URL, the key or the settings are invalid, or the key would be sent
    /// without TLS to another machine.
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
            // The name that all servers support. OpenAI's newer models require another one.
            limit_name: "max_tokens",
        })
    }

    /// Adds the members that only this API needs.
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
