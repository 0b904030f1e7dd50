//! Models for a host: everything of `turnbuckle-models`, and how a [`Conversation`] gives its tools to
//! an [`Agent`](agent::Agent) and a model to its servers.

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

/// The tools of all servers of a host, called in one conversation. The host's policy decides about
/// each call.
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
    /// The tools of the conversation's host.
    pub fn new(conversation: Arc<Conversation>) -> Self {
        Self {
            conversation,
            alone: BTreeSet::new(),
        }
    }

    /// The tools of a host, in a conversation of their own.
    pub fn of(host: &Host) -> Self {
        Self::new(Arc::new(host.conversation()))
    }

    /// Never calls these tools while others of the same answer run. They have the names of the
    /// host's catalog.
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

/// A model for the servers of a host, by sampling. The host shows requests and answers to the
/// person; the [`Sampler`] chooses the model and keeps each server to its limits.
pub struct HostSampling(Sampler);

impl HostSampling {
    /// Answers with this sampler.
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

/// What a server is told when its request is refused: everything but the words of a model's API.
fn told(error: SamplingError) -> HostSamplingError {
    match error {
        SamplingError::Model(_) => error.into(),
        error => ErrorObject::new(error.code(), error.message()).into(),
    }
}
