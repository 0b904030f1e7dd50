//! Models for a host: re-exports all of `turnbuckle-models`, and connects a host to it: [`HostTools`]
//! gives the tools of a [`Conversation`] to an [`Agent`](agent::Agent), and [`HostSampling`] gives
//! a model to the host's servers.

use std::{collections::BTreeSet, sync::Arc};

use futures_core::future::BoxFuture;
pub use turnbuckle_models::*;

use turnbuckle_host::{
    Conversation, Host, SamplingError as HostSamplingError, SamplingModel, SamplingRequest,
    ServerId,
    protocol::{
        CallToolResult, CreateMessageRequestParams, CreateMessageResult, ErrorObject, Tool,
    },
};

use self::agent::{BoxError, ToolCall, Tools};
use self::sampling::{ReviewedByHost, Sampler, SamplingError};

/// The tools of all servers of a host, called within one conversation. The host's policy decides
/// whether each call is allowed.
///
/// ```no_run
/// use turnbuckle::host::Host;
/// use turnbuckle::models::{self, HostTools, agent::Agent};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Host::load("mcp.json")?.open().await;
/// let agent = Agent::new(models::open("claude-sonnet-4-5")?, HostTools::of(&host));
/// agent.ask("What time is it?", |event| println!("{event:?}")).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HostTools {
    conversation: Arc<Conversation>,
    alone: BTreeSet<String>,
}

impl HostTools {
    /// Uses the tools of this conversation's host, and makes the calls in this conversation.
    pub fn new(conversation: Arc<Conversation>) -> Self {
        Self {
            conversation,
            alone: BTreeSet::new(),
        }
    }

    /// Uses the tools of a host, and makes the calls in a new conversation.
    pub fn of(host: &Host) -> Self {
        Self::new(Arc::new(host.conversation()))
    }

    /// Runs each of these tools alone, never at the same time as other tools of the same model answer.
    /// The names are those of the host's catalog.
    pub fn with_exclusive(mut self, tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.alone.extend(tools.into_iter().map(Into::into));
        self
    }
}

impl Tools for HostTools {
    fn tools(&self) -> BoxFuture<'_, Vec<Tool>> {
        let catalog = self.conversation.host().catalog();
        let tools = catalog.tools().iter().map(|tool| tool.to_tool()).collect();
        Box::pin(std::future::ready(tools))
    }

    fn may_overlap(&self, name: &str) -> bool {
        !self.alone.contains(name)
    }

    fn why_missing(&self, name: &str) -> Option<BoxError> {
        let missing = self.conversation.host().why_missing(name)?;
        Some(missing.into())
    }

    fn call<'a>(&'a self, call: ToolCall<'a>) -> BoxFuture<'a, Result<CallToolResult, BoxError>> {
        Box::pin(async move {
            let called = self.conversation.call(call.name, call.arguments);
            let called = called.progress(move |progress| (call.progress)(&progress));
            let output = called.await?;
            Ok(output.into_result())
        })
    }
}

/// Answers sampling requests of a host's servers with a model. The host shows requests and answers to the
/// user; the [`Sampler`] chooses the model and enforces the limits of each server.
pub struct HostSampling(Sampler);

impl HostSampling {
    /// Answers sampling requests with this sampler.
    pub fn new(sampler: Sampler) -> Self {
        Self(sampler)
    }
}

impl SamplingModel for HostSampling {
    fn takes_tools(&self) -> bool {
        true
    }

    fn admit(
        &self,
        server: &ServerId,
        params: &CreateMessageRequestParams,
    ) -> Result<(), HostSamplingError> {
        self.0.admit(server.as_str(), params).map_err(told)
    }

    fn sample(
        &self,
        request: SamplingRequest,
    ) -> BoxFuture<'_, Result<CreateMessageResult, HostSamplingError>> {
        Box::pin(async move {
            let server = request.server.as_str();
            let mut quietly = |_: Delta<'_>| {};
            let sampled =
                self.0
                    .sample_admitted(server, request.params, &ReviewedByHost, &mut quietly);
            sampled.await.map_err(told)
        })
    }
}

/// The error that a server gets when its request is refused. It never contains text from a model's API.
fn told(error: SamplingError) -> HostSamplingError {
    match error {
        SamplingError::Model(_) => error.into(),
        error => ErrorObject::new(error.code(), error.message()).into(),
    }
}
