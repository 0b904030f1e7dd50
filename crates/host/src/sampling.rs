//! `SamplingModel`: the model that answers the sampling requests of servers.

use std::error::Error;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{CreateMessageRequestParams, CreateMessageResult};

use crate::id::{ConversationId, ServerId};

/// A sampling request of a server, after the policy and the user have allowed it. A
/// [`SamplingModel`] is given it.
///
/// Its `params` name preferences for models, a limit of tokens and the messages; the host chooses
/// the model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// The server that asks, by the id that the host gave it.
    pub server: ServerId,
    /// The conversation it belongs to, if that is known. Use it to count costs by conversation.
    pub conversation: Option<ConversationId>,
    /// The request, as the user left it, with the context that was allowed.
    pub params: CreateMessageRequestParams,
}

/// Why a model gave no answer. The server is told that sampling failed, but not the reason, which
/// is only logged: it may name accounts.
///
/// A boxed [`ErrorObject`](turnbuckle_protocol::ErrorObject) is for the server, which is answered
/// with its code and message. Use it where the server can do something about it: a request that is
/// not valid, or a limit that is reached.
pub type SamplingError = Box<dyn Error + Send + Sync>;

/// The model that servers use by sampling. Set it with
/// [`HostBuilder::model`](crate::HostBuilder::model).
///
/// The host has checked the request with the policy and the user before it gets here, and checks
/// the answer before the server gets it. The crate `turnbuckle-models` implements it for the APIs
/// of common providers. An async function is a model too:
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
    /// Whether the model can be given tools. Servers send tools only where this is true. Defaults
    /// to false.
    fn takes_tools(&self) -> bool {
        false
    }

    /// Whether the model would take a request, asked before a user is: a server that asks too often
    /// or has used up its share is refused without a question. Defaults to taking everything.
    ///
    /// # Errors
    /// Why not. See [`SamplingError`] for what the server is told.
    fn admit(
        &self,
        server: &ServerId,
        params: &CreateMessageRequestParams,
    ) -> Result<(), SamplingError> {
        let _ = (server, params);
        Ok(())
    }

    /// Asks the model, and returns its answer. The answer is shown to the user, unless the policy
    /// or a grant allows it, before the server gets it.
    ///
    /// # Errors
    /// Why there is no answer. See [`SamplingError`] for what the server is told.
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
