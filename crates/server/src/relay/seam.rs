//! The interface of a relay.

use std::{any::Any, sync::Arc};

use futures_core::{future::BoxFuture, stream::BoxStream};
use turnbuckle_protocol::{
    ClientCapabilities, ErrorObject, Implementation, LoggingLevel, Revision, ServerCapabilities,
    SubscriptionFilter,
    envelope::{Members, Raw, RawText, RequestMeta},
    http::ParamHeaders,
};

use super::ClientChannel;
use crate::{Caller, Reject, UpdateNotice, client::Peer};

/// Answers requests in place of the server's own tools, prompts and resources: for gateways and
/// proxies.
///
/// The server calls it first for every method except `ping`, `initialize`, `server/discover`,
/// `logging/setLevel` and `subscriptions/listen`, which the server answers with what the relay
/// [offers](Relay::offer). Give it to [`Server::relay`](crate::Server::relay).
///
/// ```
/// use std::sync::Arc;
/// use turnbuckle_protocol::ServerCapabilities;
/// use turnbuckle_server::{BoxFuture, Caller, Relay, RelayOffer, RelayReply, RelayedRequest, Server};
///
/// struct Echo;
///
/// impl Relay for Echo {
///     fn offer(&self, _: &Caller) -> RelayOffer {
///         RelayOffer::new(ServerCapabilities::default())
///     }
///
///     fn serve(&self, request: RelayedRequest<'_>) -> Option<BoxFuture<'static, RelayReply>> {
///         (request.method() == "echo/params").then(|| -> BoxFuture<'static, _> {
///             let params = request.params().map_or("{}", |raw| raw.get()).to_owned();
///             Box::pin(async { RelayReply::Result(params.into_bytes()) })
///         })
///     }
/// }
///
/// let server = Server::new("echo", "1.0.0").relay(Arc::new(Echo));
/// # server.build().unwrap();
/// ```
pub trait Relay: Send + Sync + 'static {
    /// Returns what this caller is offered. It is called when a session opens and for
    /// `server/discover`, and must not block.
    fn offer(&self, caller: &Caller) -> RelayOffer;

    /// Serves a request. Returns `None` to leave the request to the server's own entries.
    ///
    /// The future is dropped when the client cancels the request or disconnects. The connection
    /// polls it first, so it must not block.
    fn serve(&self, request: RelayedRequest<'_>) -> Option<BoxFuture<'static, RelayReply>>;

    /// Opens a subscription of a client of 2026-07-28, and returns the part of it that the relay
    /// accepts. It must not block. By default nothing is accepted.
    fn listen(&self, _request: &RelayedRequest<'_>, _wanted: &SubscriptionFilter) -> RelayListen {
        RelayListen::default()
    }

    /// Follows tasks for the subscription of a client of 2026-07-28. Returns `None` if the relay
    /// has no tasks, which is the default. Ids of unknown tasks may be accepted; no news is sent
    /// for them.
    fn listen_tasks(&self, _request: &RelayedRequest<'_>, _ids: &[String]) -> Option<RelayTasks> {
        None
    }

    /// Decides how a caller that follows a resource is notified of an update. The updated resource may
    /// be another one, such as a part of the followed one. It must not block. By default callers are
    /// notified of everything.
    ///
    /// `caller` is the one who opened the session or the subscription.
    fn update_notice(&self, _caller: &Caller, _followed: &str, _updated: &str) -> UpdateNotice {
        UpdateNotice::Whole
    }

    /// Returns the arguments of a tool that clients mirror in headers. `None`, which is the
    /// default, if the tool has no such arguments or is unknown.
    fn param_headers(&self, _caller: &Caller, _tool: &str) -> Option<Arc<ParamHeaders>> {
        None
    }

    /// Called when the client of a legacy session asks for log messages of this severity and above.
    /// Does nothing by default.
    fn log_level(&self, _client: &ClientChannel, _level: LoggingLevel) {}
}

/// What a relay offers to a caller: capabilities, a name and instructions. Returned by
/// [`Relay::offer`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RelayOffer {
    /// The capabilities to declare, in addition to those of the server's own entries.
    pub capabilities: ServerCapabilities,
    /// The description of the server that clients see. `None` means the server's own description.
    pub info: Option<Implementation>,
    /// Instructions for models that use the server. `None` means the server's own instructions.
    pub instructions: Option<String>,
}

impl RelayOffer {
    /// Creates an offer of these capabilities, with the server's own name and instructions.
    pub fn new(capabilities: ServerCapabilities) -> Self {
        Self {
            capabilities,
            info: None,
            instructions: None,
        }
    }

    /// Sets the name and version that clients see.
    pub fn with_info(mut self, info: Implementation) -> Self {
        self.info = Some(info);
        self
    }

    /// Sets the instructions for models.
    pub fn with_instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }
}

/// The part of a subscription that the relay accepts. The default value accepts nothing.
#[derive(Default)]
#[non_exhaustive]
pub struct RelayListen {
    /// The accepted part of the subscription, which the server acknowledges to the client.
    pub accepted: SubscriptionFilter,
    /// A value that is dropped when the subscription ends. Its `drop` can end the relay's own
    /// subscriptions at other servers.
    pub guard: Option<Box<dyn Any + Send>>,
}

impl RelayListen {
    /// Accepts this part. `guard` is dropped when the subscription ends.
    pub fn new(accepted: SubscriptionFilter, guard: impl Any + Send) -> Self {
        Self {
            accepted,
            guard: Some(Box::new(guard)),
        }
    }
}

/// The tasks of a subscription that the relay follows.
#[non_exhaustive]
pub struct RelayTasks {
    /// The ids that are accepted.
    pub ids: Vec<String>,
    /// The params of each `notifications/tasks`. It is dropped when the subscription ends.
    pub news: BoxStream<'static, RawText>,
}

impl RelayTasks {
    /// Follows these tasks. `news` has the params of each `notifications/tasks`, which are the members of
    /// a `tasks/get` result.
    pub fn new(ids: Vec<String>, news: BoxStream<'static, RawText>) -> Self {
        Self { ids, news }
    }
}

/// The relay's reply to a request. A [`Reject`] and an [`ErrorObject`] convert into it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RelayReply {
    /// A result: the text of a complete JSON object, in the form of the client's revision.
    Result(Vec<u8>),
    /// An error as another server wrote it, with its code. It is sent on unchanged.
    Error(i64, RawText),
    /// An error of the relay itself.
    Reject(Reject),
}

impl From<Reject> for RelayReply {
    fn from(reject: Reject) -> Self {
        Self::Reject(reject)
    }
}

impl From<ErrorObject> for RelayReply {
    fn from(error: ErrorObject) -> Self {
        Self::Reject(Reject::of(error))
    }
}

/// A request for a [`Relay`], borrowed from the client's message.
/// [`to_owned_request`](Self::to_owned_request) makes an owned copy.
pub struct RelayedRequest<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: &'a Members<'a>,
    pub(crate) revision: Revision,
    pub(crate) peer: &'a Arc<Peer>,
    pub(crate) channel: ClientChannel,
    pub(crate) note: Option<RelayNote>,
}

/// A value that one relay attaches to a request for another relay.
pub(crate) type RelayNote = Arc<dyn Any + Send + Sync>;

impl<'a> RelayedRequest<'a> {
    /// Returns the method of the request.
    pub fn method(&self) -> &'a str {
        self.method
    }

    /// Returns the params, unchanged; `None` if the request has no params.
    pub fn params(&self) -> Option<Raw<'a>> {
        self.params.raw()
    }

    /// Returns the members of the params, each unparsed. There are no members if the request has no
    /// params.
    pub fn members(&self) -> &'a Members<'a> {
        self.params
    }

    /// Returns the members of `_meta` that the protocol defines; `None` if the request has no
    /// `_meta`.
    pub fn meta(&self) -> Option<&RequestMeta<'a>> {
        self.params.meta()
    }

    /// Returns the revision that the client speaks. Results must be in the form of this revision.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the caller of the request, as the guard or a layer identified it.
    pub fn caller(&self) -> &'a Caller {
        self.peer.caller()
    }

    /// Returns the client's capabilities, from this request or from its handshake.
    pub fn capabilities(&self) -> ClientCapabilities {
        if self.revision.is_modern() {
            let declared = self.meta().and_then(|meta| meta.client_capabilities);
            return declared
                .and_then(|raw| raw.parse().ok())
                .unwrap_or_default();
        }
        let client = self.peer.client();
        client.map(|client| client.capabilities).unwrap_or_default()
    }

    /// Returns the client's description of itself, unverified; `None` if it sent no description.
    pub fn client_info(&self) -> Option<Implementation> {
        if self.revision.is_modern() {
            let info = self.meta().and_then(|meta| meta.client_info);
            return info.and_then(|raw| raw.parse().ok());
        }
        self.peer.client()?.info
    }

    /// Returns the log level that the client asked for, with this request or for its session;
    /// `None` if it asked for no log messages.
    pub fn log_level(&self) -> Option<LoggingLevel> {
        if self.revision.is_modern() {
            let level = self.meta().and_then(|meta| meta.log_level);
            return level.and_then(|raw| raw.parse().ok());
        }
        self.peer.log_level()
    }

    /// Returns the channel to the client, for notifications and questions. It can be kept after the
    /// request.
    pub fn client_channel(&self) -> &ClientChannel {
        &self.channel
    }

    /// Attaches a value to the request, in place of an earlier one. A relay that wraps another
    /// relay uses it to pass it a value. It is not sent anywhere.
    #[must_use]
    pub fn with_note(mut self, note: impl Any + Send + Sync) -> Self {
        self.note = Some(Arc::new(note));
        self
    }

    /// Returns the value that was attached to the request, if it has this type.
    pub fn note<T: Any>(&self) -> Option<&T> {
        self.note.as_ref()?.downcast_ref()
    }

    /// Makes an owned copy of the request, to be served later. This copies the params.
    pub fn to_owned_request(&self) -> OwnedRelayedRequest {
        OwnedRelayedRequest {
            method: self.method.into(),
            params: self.params.raw().map(RawText::from),
            revision: self.revision,
            peer: Arc::clone(self.peer),
            channel: self.channel.clone(),
            note: self.note.clone(),
        }
    }
}

/// An owned request, which outlives the client's message: for a request that must wait before it is
/// served.
#[derive(Clone)]
pub struct OwnedRelayedRequest {
    method: Box<str>,
    params: Option<RawText>,
    revision: Revision,
    peer: Arc<Peer>,
    channel: ClientChannel,
    note: Option<RelayNote>,
}

impl OwnedRelayedRequest {
    /// Returns the method of the request.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the params; an empty object if the request has no params.
    pub fn params(&self) -> Raw<'_> {
        self.params.as_ref().map_or(Raw::EMPTY_OBJECT, RawText::raw)
    }

    /// Replaces the params.
    pub fn with_params(mut self, params: RawText) -> Self {
        self.params = Some(params);
        self
    }

    /// Lets a relay serve the request, as if it had just arrived. Returns `None` if the relay
    /// leaves it to the server's own entries.
    pub fn serve(&self, relay: &dyn Relay) -> Option<BoxFuture<'static, RelayReply>> {
        let members = match &self.params {
            None => Members::default(),
            // The original params were parsed before. Replaced params that cannot be parsed count
            // as empty.
            Some(params) => Members::of(params.raw()).unwrap_or_default(),
        };
        relay.serve(RelayedRequest {
            method: &self.method,
            params: &members,
            revision: self.revision,
            peer: &self.peer,
            channel: self.channel.clone(),
            note: self.note.clone(),
        })
    }
}
