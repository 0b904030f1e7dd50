//! The parts of one connection.

use std::sync::Arc;

use turnbuckle_base::lock::RwLock;
use turnbuckle_protocol::{LoggingLevel, Revision};
use turnbuckle_transport::Closed;

use super::{asks::AskPacers, common_meta::CommonMeta, lifecycle::Lifecycle, wire::Wire};
#[cfg(feature = "http")]
use crate::http::Http;
use crate::{
    answer::ManualCalls,
    cache::ConnectionCache,
    ends::Ends,
    error::{CallError, Ending},
    notifications::Feed,
    peer::Peer,
    pending::{CallTags, PendingRequests},
    profile::Profile,
    relayed::RelayCalls,
    subscription::{ChangeQueues, DesiredSession},
    tap::Direction,
    tool::ListedTools,
    warnings::Warnings,
};

/// One connection, shared by its calls and its driver. Each part has one job, and code that needs only
/// one part gets only that part.
pub(crate) struct Link {
    /// Both ends of the connection.
    pub(crate) ends: Arc<Ends>,
    /// The requests that wait for answers.
    pub(crate) pending: Arc<PendingRequests>,
    /// The queue of outgoing messages.
    pub(crate) wire: Wire,
    /// The `_meta` of every request.
    pub(super) common_meta: RwLock<CommonMeta>,
    /// The state of the connection: open, closing or closed.
    pub(crate) lifecycle: Lifecycle,
    /// The streams of notifications.
    pub(crate) feed: Feed,
    /// The streams of changes.
    pub(crate) changes: ChangeQueues,
    /// The desired state of the session.
    pub(crate) desired: DesiredSession,
    /// The calls whose questions are answered by hand.
    pub(crate) manual: Arc<ManualCalls>,
    /// The cached results.
    pub(crate) cache: ConnectionCache,
    /// The listed tools.
    pub(crate) tools: Arc<ListedTools>,
    /// Warnings about parts of messages that were left out.
    pub(crate) warnings: Warnings,
    /// The tags of calls in flight.
    pub(crate) tags: CallTags,
    /// The relayed calls in flight.
    pub(crate) relays: RelayCalls,
    /// How often the server has asked recently.
    pub(super) ask_pacers: AskPacers,
}

impl Link {
    /// Creates the link of a connection over a pipe.
    pub(super) fn new(label: Arc<str>, profile: Arc<Profile>) -> Self {
        let wire = Wire::new(profile.settings.limits);
        let ends = Arc::new(Ends::new(label, profile));
        Self::over(wire, ends, Arc::default(), Arc::default())
    }

    /// Creates the link of a connection over HTTP.
    #[cfg(feature = "http")]
    pub(crate) fn over_http(http: Arc<Http>) -> Self {
        let (ends, pending) = (http.ends.clone(), http.pending.clone());
        let tools = http.tools.clone();
        let wire = Wire::over_http(ends.profile.settings.limits, http);
        Self::over(wire, ends, pending, tools)
    }

    fn over(
        wire: Wire,
        ends: Arc<Ends>,
        pending: Arc<PendingRequests>,
        tools: Arc<ListedTools>,
    ) -> Self {
        Self {
            pending,
            common_meta: RwLock::default(),
            lifecycle: Lifecycle::new(ends.profile.settings.grace),
            feed: Feed::default(),
            changes: ChangeQueues::default(),
            desired: DesiredSession::default(),
            manual: Arc::default(),
            cache: ConnectionCache::new(ends.profile.cache.clone(), wire.url()),
            tools,
            warnings: Warnings::default(),
            tags: CallTags::default(),
            relays: RelayCalls::default(),
            ask_pacers: AskPacers::new(ends.profile.settings.ask_rates),
            wire,
            ends,
        }
    }

    /// The client's name, capabilities and settings.
    pub(crate) fn profile(&self) -> &Profile {
        &self.ends.profile
    }

    /// The server's name in errors and logs.
    pub(crate) fn server(&self) -> &Arc<str> {
        self.ends.server()
    }

    /// The server, once its revision is known.
    pub(crate) fn peer(&self) -> Option<&Arc<Peer>> {
        self.ends.peer()
    }

    /// The revision in use. See [`Ends::revision`].
    pub(crate) fn revision(&self) -> Revision {
        self.ends.revision()
    }

    /// Records the server, once its revision is known.
    pub(crate) fn meet(&self, peer: Peer) -> &Arc<Peer> {
        let peer = self.ends.meet(peer);
        let revision = peer.revision();
        self.cache
            .meet(revision, &self.profile().capabilities(revision));
        self.announce(revision, self.profile().settings.log_level);
        peer
    }

    /// Sets the `_meta` of every request from now on.
    pub(crate) fn announce(&self, revision: Revision, log_level: Option<LoggingLevel>) {
        *self.common_meta.write() = CommonMeta::new(revision, self.profile(), log_level);
    }

    /// Sends a message, waiting for room in the queue if necessary. See [`Wire::send`].
    pub(crate) async fn send(&self, message: &[u8]) -> Result<(), Closed> {
        self.wire.send(message).await?;
        self.show_line(message);
        Ok(())
    }

    /// Sends a message without waiting. See [`Wire::push`].
    pub(super) fn push(&self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>) {
        if self.profile().tap.is_none() {
            return self.wire.push(write);
        }
        let mut message = Vec::new();
        self.wire.push(|out| {
            write(&mut message)?;
            out.extend_from_slice(&message);
            Ok(())
        });
        // Nothing was written if the connection has ended.
        if !message.is_empty() {
            self.show_line(&message);
        }
    }

    /// Shows a message to the application's listener. Over HTTP a message is shown when it is posted.
    fn show_line(&self, message: &[u8]) {
        if !self.wire.is_http() {
            self.ends.show(Direction::Out, message);
        }
    }

    /// The error for a call on a connection that has ended.
    pub(crate) fn closed(&self, method: &str) -> CallError {
        CallError::Closed {
            server: self.server().clone(),
            method: method.into(),
            ending: self.lifecycle.ending(),
        }
    }

    /// Fails everything that waits, because the server will not answer any more.
    pub(crate) fn lose(&self, ending: Ending) {
        // The reason is set first, because the failing calls read it.
        self.lifecycle.lose(ending);
        self.end_waiting();
    }

    /// Ends the connection, with this ending.
    pub(super) fn end(&self, ending: Ending) {
        self.lifecycle.end(Arc::new(ending));
        self.end_waiting();
    }

    /// Ends the connection, with the reason for which it was lost, if any.
    #[cfg(feature = "http")]
    pub(crate) fn end_as_lost(&self) {
        self.lifecycle.end(self.lifecycle.ending());
        self.end_waiting();
    }

    /// Ends the connection if it has not ended for a known reason.
    pub(super) fn abandon(&self) {
        if !self.lifecycle.is_ended() {
            self.end(Ending::failed(
                "the client stopped serving the connection".to_owned(),
            ));
        }
    }

    fn end_waiting(&self) {
        self.pending.close();
        self.feed.close();
        self.changes.close();
        self.manual.clear();
    }

    /// Whether the connection is closed, so that nothing can be sent any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.wire.is_closed()
    }

    /// Notifies a legacy server that its list of roots is out of date.
    pub(crate) fn announce_roots(&self) {
        if self.peer().is_some_and(|peer| !peer.revision().is_modern()) {
            self.notify("notifications/roots/list_changed", &());
        }
    }
}
