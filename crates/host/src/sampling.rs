//! `SamplingModel`: the model that answers the sampling requests of servers.

use std::error::Error;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CreateMessageRequestParams, CreateMessageResult};

use crate::id::{ConversationId, ServerId};

/// A sampling request of a server that the policy and the user have allowed. A [`SamplingModel`] gets it.
///
/// Its `params` contain preferences for models, a token limit and the messages. The host chooses
/// the model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// The server that asks, by the id that the host gave it.
    pub server: ServerId,
    /// The conversation that it belongs to, if this is known. Use it to count costs by conversation.
    pub conversation: Option<ConversationId>,
    /// The request as the user allowed or edited it, with the context that was allowed.
    pub params: CreateMessageRequestParams,
}

/// Why a model gave no answer. The server gets an error that sampling failed. The reason is only
/// logged, because it may name accounts.
///
/// A boxed [`ErrorObject`](turnbuckle_protocol::ErrorObject) is sent to the server with its code
/// and message. Use it if the server can act on the error, for example if the request is invalid or
/// a limit is reached.
pub type SamplingError = Box<dyn Error + Send + Sync>;

/// The model that answers the sampling requests of servers. Set it with
/// [`HostBuilder::model`](crate::HostBuilder::model).
///
/// The policy and the user have allowed a request before the model gets it, and the host checks the
/// answer before the server gets it. The crate `turnbuckle-models` implements this trait for the
/// APIs of common providers. An async function is a model too:
///
/// ```
/// use turnbuckle_host::protocol::CreateMessageResult;
/// use turnbuckle_host::{Host, SamplingError, SamplingRequest};
///
/// async fn answer(request: SamplingRequest) -> Result<CreateMessageResult, SamplingError> {
///     println!("{} asks the model", request.server);
///     // Ask your model here, with `request.params`.
///     Ok(CreateMessageResult::new("my-model", "Hello!"))
/// }
///
/// let builder = Host::builder("my-app", "1.0.0").model(answer);
/// # drop(builder);
/// ```
pub trait SamplingModel: Send + Sync + 'static {
    /// Whether the model accepts tools. Servers may send tools only if this returns true. Defaults
    /// to false.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Decides whether the model accepts a request, before the user is asked. A server that asks
    /// too often or has used up its quota can be refused here without a question. Defaults to
    /// accepting every request.
    ///
    /// # Errors
    /// The reason for the refusal. See [`SamplingError`] for what the server gets.
    fn admit(
        &self,
        server: &ServerId,
        params: &CreateMessageRequestParams,
    ) -> Result<(), SamplingError> {
        let _ = (server, params);
        Ok(())
    }

    /// Sends the request to the model, and returns its answer. Before the server gets the answer,
    /// it is shown to the user, unless the policy or a grant allows it.
    ///
    /// # Errors
    /// The reason why there is no answer. See [`SamplingError`] for what the server gets.
    ///
    /// # Cancel safety
    /// The future is dropped when the server withdraws the request.
    fn sample(
        &self,
        request: SamplingRequest,
    ) -> BoxFuture<'_, Result<CreateMessageResult, SamplingError>>;
}

impl<F, A> SamplingModel for F
where
    F: Fn(SamplingRequest) -> A + Send + Sync + 'static,
    A: Future<Output = Result<CreateMessageResult, SamplingError>> + Send + 'static,
{
    fn sample(
        &self,
        request: SamplingRequest,
    ) -> BoxFuture<'_, Result<CreateMessageResult, SamplingError>> {
        Box::pin(self(request))
    }
}
