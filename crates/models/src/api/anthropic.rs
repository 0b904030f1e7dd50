//! The Messages API of Anthropic.

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CreateMessageRequestParams, Tool};

use super::anthropic_stream::Events;
use super::asking::Asking;
use super::endpoint::{ApiSettings, Endpoint, KeyHeader};
use super::key::ApiKey;
use crate::error::ModelError;
use crate::format::{Answer, Format, Rewrite};
use crate::model::{Delta, Model};

/// The URL of Anthropic's API.
const ANTHROPIC: &str = "https://api.anthropic.com";

/// The version of the API that requests and events are written for.
const VERSION: &str = "2023-06-01";

/// A model that is accessed through Anthropic's Messages API.
pub struct Anthropic {
    asking: Asking,
}

impl Anthropic {
    /// Makes a model of Anthropic.
    ///
    /// # Errors
    /// [`ModelError`] if the key or the settings are invalid.
    pub fn new(
        model: impl Into<String>,
        key: ApiKey,
        settings: ApiSettings,
    ) -> Result<Self, ModelError> {
        Self::compatible(ANTHROPIC, model, Some(key), settings)
    }

    /// Makes a model of another server with the same API. The URL is the part before `/v1/messages`.
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
        let key = key.map(|key| (key, KeyHeader::Named("x-api-key")));
        let endpoint = Endpoint::open(url, "v1/messages", key, settings)?;
        let endpoint = endpoint.with_header("anthropic-version", VERSION);
        Ok(Self {
            asking: Asking::new(model.into(), Format::Anthropic, endpoint),
        })
    }
}

impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.asking.model
    }

    fn answer<'a>(
        &'a self,
        params: &'a CreateMessageRequestParams,
        report: &'a mut (dyn FnMut(Delta<'_>) + Send),
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(self.asking.ask(params, |_| {}, Events::new, report))
    }

    fn rewrites(&self, tools: &[Tool]) -> Vec<Rewrite> {
        self.asking.rewrites(tools)
    }
}
