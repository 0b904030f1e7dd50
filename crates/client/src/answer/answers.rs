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

/// Capabilities that are declared without a handler, because the application answers by hand.
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

/// Which kind of sampling requests the handler accepts: with tools or without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sampling {
    #[default]
    Plain,
    WithTools,
}

/// Whether the sampling handler adds the context that servers request with `includeContext`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ContextSupport {
    #[default]
    Ignored,
    Added,
}

impl Answers {
    /// Creates an empty set of handlers. With it no capability is declared, and servers cannot send any
    /// request to the client.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the handler that shows forms to the user (elicitation). It returns what the user filled
    /// in, which is checked against the form's schema, or that they declined. Returning
    /// [`Refusal::Declined`] and returning a declined result mean the same.
    ///
    /// Show the user which server asks, and let the user decline. The deadline of the call is paused
    /// while the handler runs.
    pub fn on_form<F, A>(mut self, handler: F) -> Self
    where
        F: Fn(ServerAsk<ElicitRequestFormParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, Refusal>> + Send + 'static,
    {
        self.form = Some(boxed(handler));
        self
    }

    /// Sets the handler that asks the user to visit a URL. Accepting means that the user agreed to the
    /// visit, not that the visit is over. The handler must not open the URL without asking.
    ///
    /// A server of 2025-11-25 can refuse a call until the user has visited a URL (-32042). The call is
    /// then sent again when the server reports that the visit is done, or when [`ServerAsk::finish`] is
    /// called.
    pub fn on_url<F, A>(mut self, handler: F) -> Self
    where
        F: Fn(ServerAsk<ElicitRequestUrlParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<ElicitResult, Refusal>> + Send + 'static,
    {
        self.url = Some(boxed(handler));
        self
    }

    /// Sets the handler for sampling: it asks a model for a completion. Requests with tools are refused
    /// before they reach the handler; set [`on_sample_with_tools`](Self::on_sample_with_tools) to
    /// accept them.
    pub fn on_sample<F, A>(mut self, handler: F) -> Self
    where
        F: Fn(ServerAsk<CreateMessageRequestParams>) -> A + Send + Sync + 'static,
        A: Future<Output = Result<CreateMessageResult, Refusal>> + Send + 'static,
    {
        self.sample = Some(boxed(handler));
        self.sampling = Sampling::Plain;
        self
    }

    /// Sets the handler for sampling with a model that may call tools. The handler passes the tools of
    /// the request on to the model. It also receives requests without tools.
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

    /// Sets the roots that every server sees. Only `file://` URIs are sent.
    pub fn roots(mut self, roots: impl Into<Roots>) -> Self {
        self.roots = Some(roots.into());
        self
    }

    /// Sets a handler that returns the roots for one server, called each time the server asks.
    /// Different servers can get different roots. It replaces [`roots`](Self::roots). Call
    /// [`Connection::roots_changed`](crate::Connection::roots_changed) when a server would get
    /// another answer.
    ///
    /// The handler returns a list of roots, or [`Roots`]. The folders of [`Roots::folders`] are watched
    /// until the handler returns other roots to this server: the server is notified when one of the
    /// folders disappears or reappears, and when [`Roots::replace`] changes them. A list of roots is
    /// sent unchanged; the handler makes sure that the roots exist and can be read.
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

    /// Declares forms without a handler. Calls made with [`by_hand`](crate::Connection::by_hand) return
    /// the forms as data.
    pub fn forms_by_hand(mut self) -> Self {
        self.by_hand.forms = true;
        self
    }

    /// Declares visits to URLs without a handler. Calls made with
    /// [`by_hand`](crate::Connection::by_hand) return the visits as data.
    pub fn urls_by_hand(mut self) -> Self {
        self.by_hand.urls = true;
        self
    }

    /// Declares sampling, with tools, without a handler. Calls made with
    /// [`by_hand`](crate::Connection::by_hand) return the requests as data.
    pub fn samples_by_hand(mut self) -> Self {
        self.by_hand.sampling = true;
        self
    }

    /// Declares roots without a handler. Calls made with [`by_hand`](crate::Connection::by_hand) return
    /// the requests as data.
    pub fn roots_by_hand(mut self) -> Self {
        self.by_hand.roots = true;
        self
    }

    /// Returns the capabilities that these handlers allow, in the form of the newest revision. Older
    /// servers get the part that their revision defines.
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

    /// Whether servers can send any request to this client.
    #[cfg(feature = "http")]
    pub(crate) fn has_any(&self) -> bool {
        self.capabilities() != ClientCapabilities::default()
    }

    /// The roots, if they are the same for all servers.
    pub(crate) fn listed_roots(&self) -> Option<&Roots> {
        self.roots.as_ref().filter(|_| self.roots_of.is_none())
    }

    /// Whether a handler decides which roots each server sees.
    pub(crate) fn has_roots_by_server(&self) -> bool {
        self.roots_of.is_some()
    }

    /// Answers one question of a kind that the client has
    /// [declared](turnbuckle_session::round::check_offered). Without a handler for it, the question is
    /// left to calls by hand.
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
                // A user who declines has answered the form: this is not an error.
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
        // Calls by hand may declare sampling with tools although the handler does not accept them.
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
