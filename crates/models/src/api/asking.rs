//! The common part of the adapters: requests, retries and streams.

use std::sync::Arc;

use serde_json::Value;
use turnbuckle_protocol::{CreateMessageRequestParams, Tool};

use super::endpoint::Endpoint;
use super::reader::{self, Assembly};
use super::written_tools::WrittenTools;
use crate::error::ModelError;
use crate::format::{Answer, Format, Rewrite, ToolList};
use crate::model::Delta;

/// A model with its endpoint and settings.
pub(super) struct Asking {
    pub(super) model: String,
    format: Format,
    endpoint: Endpoint,
    tools: WrittenTools,
}

impl Asking {
    pub(super) fn new(model: String, format: Format, endpoint: Endpoint) -> Self {
        Self {
            model,
            format,
            endpoint,
            tools: WrittenTools::new(format),
        }
    }

    /// Writes and sends the request, and reads the streamed answer. `complete` adds the members
    /// that only this API needs to the body, and `assembly` assembles its events.
    pub(super) async fn ask<A: Assembly>(
        &self,
        params: &CreateMessageRequestParams,
        complete: impl FnOnce(&mut Value),
        assembly: impl FnOnce(&str, Arc<ToolList>) -> A,
        report: &mut (dyn FnMut(Delta<'_>) + Send),
    ) -> Result<Answer, ModelError> {
        let tools = self.tools.of(params.tools.as_deref().unwrap_or_default());
        let written = self.format.request(&self.model, params, &tools);
        for left_out in &written.left_out {
            tracing::warn!(model = %self.model, "not sent: {left_out}");
        }
        let mut body = written.body;
        body["stream"] = true.into();
        complete(&mut body);
        let reply = self.endpoint.send(&self.model, &body, report).await?;
        let assembly = assembly(&self.model, tools.clone());
        let (endpoint, format) = (&self.endpoint, self.format);
        reader::read(endpoint, format, reply, &tools, assembly, report).await
    }

    pub(super) fn rewrites(&self, tools: &[Tool]) -> Vec<Rewrite> {
        self.tools.of(tools).rewrites().to_vec()
    }
}
