//! Messages of Anthropic.

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CreateMessageRequestParams, Tool};

use super::anthropic_stream::Events;
use super::endpoint::{ApiSettings, Endpoint, KeyHeader};
use super::key::ApiKey;
use super::reader;
use super::written_tools::WrittenTools;
use crate::error::ModelError;
use crate::format::{Answer, Format, Rewrite};
use crate::model::{Delta, Model};

/// Where Anthropic itself is.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// The version of the API that requests and events are written for.
const VERSION: &str = "2023-06-01";

/// A model behind the messages of Anthropic.
pub struct Anthropic {
    model: String,
    endpoint: Endpoint,
    tools: WrittenTools,
}

impl Anthropic {
    /// A model of Anthropic.
    ///
    /// # Errors
    /// If the key or the settings cannot be used.
    pub fn new(
        model: impl Into<String>,
        key: ApiKey,
        settings: ApiSettings,
    ) -> Result<Self, ModelError> {
        Self::compatible(ANTHROPIC, model, Some(key), settings)
    }

    /// A model of another server that speaks the same. The URL is what stands before `/v1/messages`.
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
        let key = key.map(|key| (key, KeyHeader::Named("x-api-key")));
        let endpoint = Endpoint::open(url, "v1/messages", key, settings)?;
        Ok(Self {
            model: model.into(),
            endpoint: endpoint.with_header("anthropic-version", VERSION),
            tools: WrittenTools::new(Format::Anthropic),
        })
    }

    async fn ask(
        &self,
        params: &CreateMessageRequestParams,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Answer, ModelError> {
        let tools = self.tools.of(params.tools.as_deref().unwrap_or_default());
        let written = Format::Anthropic.request(&self.model, params, &tools);
        for left_out in &written.left_out {
            tracing::warn!(model = %self.model, "not sent: {left_out}");
        }
        let mut body = written.body;
        body["stream"] = true.into();
        let reply = self.endpoint.send(&self.model, &body, report).await?;
        let assembly = Events::new(&self.model, tools.clone());
        let format = Format::Anthropic;
        reader::read(&self.endpoint, format, reply, &tools, assembly, report).await
    }
}

impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.model
    }

    fn answer<'a>(
        &'a self,
        params: &'a CreateMessageRequestParams,
        report: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(self.ask(params, report))
    }

    fn rewrites(&self, tools: &[Tool]) -> Vec<Rewrite> {
        self.tools.of(tools).rewrites().to_vec()
    }
}
