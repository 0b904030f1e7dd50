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

/// One connection, as its calls and its driver see it: each part has one job, and whatever needs one
/// part takes that part.
pub(crate) struct Link {
    /// Both ends of the connection.
    pub(crate) ends: Arc<Ends>,
    /// The requests that wait for answers.
    pub(crate) pending: Arc<PendingRequests>,
    /// Where messages leave.
    pub(crate) wire: Wire,
    /// The `_meta` of every request.
    pub(super) common_meta: RwLock<CommonMeta>,
    /// How far the connection is from its end.
    pub(crate) lifecycle: Lifecycle,
    /// The streams of what the server says unasked.
    pub(crate) feed: Feed,
    /// The streams of changes.
    pub(crate) changes: ChangeQueues,
    /// The desired state of the session.
    pub(crate) desired: DesiredSession,
    /// The calls whose questions are answered by hand.
    pub(crate) manual: Arc<ManualCalls>,
    /// The results that are kept.
    pub(crate) cache: ConnectionCache,
    /// The listed tools.
    pub(crate) tools: Arc<ListedTools>,
    /// The warnings.
    pub(crate) warnings: Warnings,
    /// The tags of calls in flight.
    pub(crate) tags: CallTags,
    /// The relayed calls in flight.
    pub(crate) relays: RelayCalls,
    /// How often the server has asked.
    pub(super) ask_pacers: AskPacers,
}

impl Link {
    /// A connection over a pipe.
    pub(super) fn new(label: Arc<str>, profile: Arc<Profile>) -> Self {
        let wire = Wire::new(profile.settings.limits);
        let ends = Arc::new(Ends::new(label, profile));
        Self::over(wire, ends, Arc::default(), Arc::default())
    }

    /// A connection over HTTP.
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

    /// The client's identity and capabilities.
    pub(crate) fn profile(&self) -> &Profile {
        &self.ends.profile
    }

    /// The server's name in messages.
    pub(crate) fn server(&self) -> &Arc<str> {
        self.ends.server()
    }

    /// The server, once it is known.
    pub(crate) fn peer(&self) -> Option<&Arc<Peer>> {
        self.ends.peer()
    }

    /// The revision to speak. See [`Ends::revision`].
    pub(crate) fn revision(&self) -> Revision {
        self.ends.revision()
    }

    /// Settles who is at the other end.
    pub(crate) fn meet(&self, peer: Peer) -> &Arc<Peer> {
        let peer = self.ends.meet(peer);
        let revision = peer.revision();
        self.cache
            .meet(revision, &self.profile().capabilities(revision));
        self.announce(revision, self.profile().settings.log_level);
        peer
    }

    /// Says this about the client with every request from now on.
    pub(crate) fn announce(&self, revision: Revision, log_level: Option<LoggingLevel>) {
        *self.common_meta.write() = CommonMeta::new(revision, self.profile(), log_level);
    }

    /// Sends a message that may have to wait. See [`Wire::send`].
    pub(crate) async fn send(&self, message: &[u8]) -> Result<(), Closed> {
        self.wire.send(message).await?;
        self.show_line(message);
        Ok(())
    }

    /// Sends something that must not wait. See [`Wire::push`].
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
        // Nothing was written if the connection is over.
        if !message.is_empty() {
            self.show_line(&message);
        }
    }

    /// Over HTTP a message is shown when it is posted.
    fn show_line(&self, message: &[u8]) {
        if !self.wire.is_http() {
            self.ends.show(Direction::Out, message);
        }
    }

    /// The error for a call on a connection that is over.
    pub(crate) fn closed(&self, method: &str) -> CallError {
        CallError::Closed {
            server: self.server().clone(),
            method: method.into(),
            ending: self.lifecycle.ending(),
        }
    }

    /// Ends everything that waits: the server will not answer any more.
    pub(crate) fn lose(&self, ending: Ending) {
        // First the reason, then the calls that will ask for it.
        self.lifecycle.lose(ending);
        self.end_waiting();
    }

    /// Says how it all ended.
    pub(super) fn end(&self, ending: Ending) {
        self.lifecycle.end(Arc::new(ending));
        self.end_waiting();
    }

    /// Says that all is over, for the reason it was lost by, if it was.
    #[cfg(feature = "http")]
    pub(crate) fn end_as_lost(&self) {
        self.lifecycle.end(self.lifecycle.ending());
        self.end_waiting();
    }

    /// Ends what is left if no reason for the end is known.
    pub(super) fn abandon(&self) {
        if !self.lifecycle.is_ended() {
            self.end(Ending::failed("its connection was abandoned".to_owned()));
        }
    }

    fn end_waiting(&self) {
        self.pending.close();
        self.feed.close();
        self.changes.close();
        self.manual.clear();
    }

    /// Whether nothing can be asked any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.wire.is_closed()
    }

    /// Tells a server that keeps a list of roots that it is out of date.
    pub(crate) fn announce_roots(&self) {
        if self.peer().is_some_and(|peer| !peer.revision().is_modern()) {
            self.notify("notifications/roots/list_changed", &());
        }
    }
}
