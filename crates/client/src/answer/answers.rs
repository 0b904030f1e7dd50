//! `Answers`: the handlers for questions of servers, and the capabilities that they allow.

use std::{fmt, future::Future, sync::Arc};

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitRequestFormParams,
    ElicitRequestParams, ElicitRequestUrlParams, ElicitResult, InputRequest, InputResponse,
    ListRootsResult,
};
use turnbuckle_session::round::{NotOffered, tool_fault};

use super::{AskProgress, Refusal, ServerAsk, Unanswered, form};
use crate::{peer::Peer, roots::Roots};

type RootsOf = Arc<dyn Fn(Arc<Peer>) -> BoxFuture<'static, Result<Roots, Refusal>> + Send + Sync>;

type Handler<P, R> =
    Arc<dyn Fn(ServerAsk<P>) -> BoxFuture<'static, Result<R, Refusal>> + Send + Sync>;

/// The handlers for requests of servers: elicitation, sampling and roots. Only capabilities with a
/// handler are declared.
///
/// The same handlers serve every revision: in some a server asks by a request of its own in the
/// middle of a call, in others by the call's result. Many handlers may run at a time. A handler is
/// dropped if its question is withdrawn or its connection ends.
///
/// ```
/// use turnbuckle_client::{Answers, Client, Refusal, protocol::ElicitResult};
///
/// let answers = Answers::new().on_form(|form| async move {
///     println!("{} asks: {}", form.server.name(), form.message);
///     Ok(ElicitResult::decline())
/// });
/// let client = Client::new("my-app", "0.3.0").answering(answers);
/// # let _ = client;
/// ```
#[derive(Clone, Default)]
pub struct Answers {
    form: Option<Handler<ElicitRequestFormParams, ElicitResult>>,
    url: Option<Handler<ElicitRequestUrlParams, ElicitResult>>,
    sample: Option<Handler<CreateMessageRequestParams, CreateMessageResult>>,
    sampling: Sampling,
    context: ContextSupport,
    roots: Option<Roots>,
    roots_of: Option<RootsOf>,
    by_hand: OfferedByHand,
}

/// Capabilities that are declared without a handler.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "a set of what can be offered, each with a name of its own"
)]
struct OfferedByHand {
    forms: bool,
    urls: bool,
    sampling: bool,
    roots: bool,
}

/// Whether the model that is asked may call tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sampling {
    #[default]
    Plain,
    WithTools,
}

/// Whether the handler of sampling adds the context that servers ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ContextSupport {
    #[default]
    Ignored,
    Added,
}

impl Answers {
    /// No handlers: no capability is declared, and servers cannot ask for anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the handler that shows forms to the user (elicitation). It returns what the user filled
    /// in, which is checked against the form's schema, or that they declined. Returning
    /// [`Refusal::Declined`] and returning a declined result mean the same.
    ///
    /// Say which server asks, and let the user decline. The deadline of the call is paused
    /// meanwhile.
    pub fn on_form<F, A>(mut self, handler: F) -> Self
    where
        F: Fn(ServerAsk<ElicitRequestFormParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, Refusal>> + Send + 'static,
    {
        self.form = Some(boxed(handler));
        self
    }

    /// Sets the handler that asks the user to visit a URL. Accepting means that the user agreed to
    /// the visit, not that it is over. The handler must not open the URL without asking.
    ///
    /// Where a call has to wait for the visit (-32042 of 2025-11-25), it is made again when the
    /// server reports its end or the handler has called [`ServerAsk::finish`].
    pub fn on_url<F, A>(mut self, handler: F) -> Self
    where
        F: Fn(ServerAsk<ElicitRequestUrlParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, Refusal>> + Send + 'static,
    {
        self.url = Some(boxed(handler));
        self
    }

    /// Sets the handler that asks a model. Requests with tools are refused before the handler sees
    /// them.
    pub fn on_sample<F, A>(mut self, handler: F) -> Self
    where
        F: Fn(ServerAsk<CreateMessageRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, Refusal>> + Send + 'static,
    {
        self.sample = Some(boxed(handler));
        self.sampling = Sampling::Plain;
        self
    }

    /// Sets the handler that asks a model which may call tools. The handler passes the tools on to
    /// the model.
    pub fn on_sample_with_tools<F, A>(mut self, handler: F) -> Self
    where
        F: Fn(ServerAsk<CreateMessageRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, Refusal>> + Send + 'static,
    {
        self.sample = Some(boxed(handler));
        self.sampling = Sampling::WithTools;
        self
    }

    /// Declares that the sampling handler honours `includeContext`. Servers ask for context only if
    /// this is declared.
    pub fn sampling_context(mut self) -> Self {
        self.context = ContextSupport::Added;
        self
    }

    /// Sets the roots that servers see, the same for all servers. Only `file://` URIs are sent.
    pub fn roots(mut self, roots: impl Into<Roots>) -> Self {
        self.roots = Some(roots.into());
        self
    }

    /// Sets a handler that returns the roots for one server, called each time the server asks.
    /// Different servers can get different roots. It replaces [`roots`](Self::roots). Call
    /// [`Connection::roots_changed`](crate::Connection::roots_changed) when a server would get
    /// another answer.
    ///
    /// The handler returns a list of roots, or [`Roots`]. Those of [`Roots::folders`] are watched
    /// until the handler returns others to this server: the server is notified when one of the
    /// folders is gone or is back, and when [`Roots::replace`] changes them. A list of roots is sent
    /// as it is; the handler sees to it that they exist and can be read.
    pub fn on_roots<F, A, R>(mut self, handler: F) -> Self
    where
        F: Fn(Arc<Peer>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<R, Refusal>> + Send + 'static,
        R: Into<Roots>,
    {
        self.roots_of = Some(Arc::new(move |server| {
            let answer = handler(server);
            Box::pin(async move { answer.await.map(Into::into) })
        }));
        self
    }

    /// Declares forms without a handler: calls made with [`by_hand`](crate::Connection::by_hand)
    /// return them as data.
    pub fn forms_by_hand(mut self) -> Self {
        self.by_hand.forms = true;
        self
    }

    /// Declares visits to URLs without a handler: calls made with
    /// [`by_hand`](crate::Connection::by_hand) return them as data.
    pub fn urls_by_hand(mut self) -> Self {
        self.by_hand.urls = true;
        self
    }

    /// Declares sampling, with tools, without a handler: calls made with `by_hand` return the
    /// requests as data.
    pub fn samples_by_hand(mut self) -> Self {
        self.by_hand.sampling = true;
        self
    }

    /// Declares roots without a handler: calls made with [`by_hand`](crate::Connection::by_hand)
    /// return the requests as data.
    pub fn roots_by_hand(mut self) -> Self {
        self.by_hand.roots = true;
        self
    }

    /// The capabilities that these handlers allow, in the form of the newest revision. Older
    /// servers get the part that their revision has.
    pub fn capabilities(&self) -> ClientCapabilities {
        let mut offered = ClientCapabilities::new();
        if self.form.is_some() || self.by_hand.forms {
            offered = offered.with_form_elicitation();
        }
        if self.url.is_some() || self.by_hand.urls {
            offered = offered.with_url_elicitation();
        }
        if self.sample.is_some() {
            offered = match self.sampling {
                Sampling::Plain => offered.with_sampling(),
                Sampling::WithTools => offered.with_sampling_tools(),
            };
        }
        if self.by_hand.sampling {
            offered = offered.with_sampling_tools();
        }
        if self.context == ContextSupport::Added
            && let Some(sampling) = &mut offered.sampling
        {
            sampling.context = Some(turnbuckle_protocol::JsonObject::new());
        }
        if self.by_hand.roots {
            offered = offered.with_roots();
        }
        if self.roots.is_some() || self.roots_of.is_some() {
            offered.roots.get_or_insert_default().list_changed = Some(true);
        }
        offered
    }

    /// Whether there is anything that a server could ask for.
    #[cfg(feature = "http")]
    pub(crate) fn has_any(&self) -> bool {
        self.capabilities() != ClientCapabilities::default()
    }

    /// The places that are listed, if they are the same for all servers.
    pub(crate) fn listed_roots(&self) -> Option<&Roots> {
        self.roots.as_ref().filter(|_| self.roots_of.is_none())
    }

    /// Whether a handler decides which roots each server sees.
    pub(crate) fn has_roots_by_server(&self) -> bool {
        self.roots_of.is_some()
    }

    /// Answers one question, which the client has [offered](turnbuckle_session::round::check_offered) to answer.
    /// What no handler answers is for calls by hand.
    pub(crate) async fn answer(
        &self,
        server: Arc<Peer>,
        progress: AskProgress,
        request: InputRequest,
        tag: Option<u64>,
    ) -> Result<InputResponse, Unanswered> {
        match request {
            InputRequest::Elicit(request) => {
                let answered = self.elicit(server, progress, *request, tag).await;
                // Saying no is an answer to a form.
                match answered {
                    Err(Unanswered::Refused(Refusal::Declined)) => Ok(ElicitResult::decline()),
                    answered => answered,
                }
                .map(InputResponse::from)
            }
            InputRequest::CreateMessage(request) => {
                let sampled = self.sample(server, progress, *request, tag).await;
                sampled.map(InputResponse::from)
            }
            InputRequest::ListRoots(_) => {
                if let Some(handler) = &self.roots_of {
                    let roots = handler(server.clone()).await;
                    let roots = roots.map_err(Unanswered::Refused)?;
                    return Ok(ListRootsResult::new(server.roots().give(roots).await).into());
                }
                let roots = self.roots.as_ref().ok_or(Unanswered::ByHand)?;
                Ok(ListRootsResult::new(roots.current().await).into())
            }
            _ => Err(NotOffered::Part("questions of this kind").into()),
        }
    }

    async fn elicit(
        &self,
        server: Arc<Peer>,
        progress: AskProgress,
        request: ElicitRequestParams,
        tag: Option<u64>,
    ) -> Result<ElicitResult, Unanswered> {
        match request {
            ElicitRequestParams::Form(form) => {
                let handler = self.form.as_ref().ok_or(Unanswered::ByHand)?;
                let schema = form.requested_schema.clone();
                let answered = handler(ServerAsk::new(server, progress, form, tag)).await;
                answered.and_then(|answer| form::check(&schema, answer))
            }
            ElicitRequestParams::Url(url) => {
                let handler = self.url.as_ref().ok_or(Unanswered::ByHand)?;
                handler(ServerAsk::new(server, progress, url, tag)).await
            }
            _ => return Err(NotOffered::Part("questions of this kind").into()),
        }
        .map_err(Unanswered::Refused)
    }

    async fn sample(
        &self,
        server: Arc<Peer>,
        progress: AskProgress,
        request: CreateMessageRequestParams,
        tag: Option<u64>,
    ) -> Result<CreateMessageResult, Unanswered> {
        let handler = self.sample.as_ref().ok_or(Unanswered::ByHand)?;
        // What is offered by hand may be more than the handler takes.
        let has_tools = request.tools.is_some() || request.tool_choice.is_some();
        if has_tools && self.sampling == Sampling::Plain {
            return Err(NotOffered::Part("tools for the model").into());
        }
        // sampling: tool results that are missing or mixed SHOULD be answered with an error.
        if let Some(reason) = tool_fault(&request) {
            return Err(Unanswered::Wrong(reason));
        }
        handler(ServerAsk::new(server, progress, request, tag))
            .await
            .map_err(Unanswered::Refused)
    }
}

fn boxed<P, R, F, A>(handler: F) -> Handler<P, R>
where
    F: Fn(ServerAsk<P>) -> A + Send + Sync + 'static,
    A: Future<Output = Result<R, Refusal>> + Send + 'static,
{
    Arc::new(move |ask| Box::pin(handler(ask)))
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Answers")
            .field(&self.capabilities())
            .finish()
    }
}
