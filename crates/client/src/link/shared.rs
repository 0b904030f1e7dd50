//! What the parts of one connection share.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::sync::{Notify, watch};
use turnbuckle_base::lock::{RwLock, RwLockReadGuard};
use turnbuckle_protocol::{LoggingLevel, Revision};
use turnbuckle_transport::Closed;

use super::{Ending, Stamp, pending::Pending, wire::Wire};
#[cfg(feature = "http")]
use crate::http::{Http, KnownTools};
use crate::{
    CallError, Peer,
    by_hand::{Desk, Parking},
    cache::Scoped,
    call::OutputSchemas,
    client::Profile,
    extension::Names,
    listen::{Listeners, Standing},
    news::Feed,
    tap::{Direction, Passing},
};

/// One connection, as its calls and its driver see it.
pub(crate) struct Link {
    /// What to call the server in messages until it is known better.
    label: Arc<str>,
    /// Who we are and what we offer.
    pub(crate) profile: Arc<Profile>,
    pub(crate) wire: Wire,
    pub(crate) pending: Pending,
    pub(crate) feed: Feed,
    /// Those who hear of changes.
    pub(crate) listeners: Listeners,
    /// What a session is to keep.
    pub(crate) standing: Standing,
    /// Where questions wait for answers by hand.
    pub(crate) desk: Desk,
    /// The calls that wait for them.
    pub(crate) parking: Parking,
    /// For whom results of this connection are kept.
    pub(crate) scoped: Scoped,
    pub(crate) schemas: OutputSchemas,
    /// What matters of the tools for sending their calls.
    #[cfg(feature = "http")]
    pub(crate) tools: KnownTools,
    /// What HTTP names the methods of extensions by.
    pub(crate) names: Names,
    /// Told about each answer that fits no question. Only the handshake listens.
    pub(crate) stray: Notify,
    peer: OnceLock<Arc<Peer>>,
    stamp: RwLock<Stamp>,
    stage: watch::Sender<Stage>,
    /// How long its process has at each step of its end, where that is not what the settings say.
    hurry: watch::Sender<Option<Duration>>,
}

impl Link {
    /// Sends a message that may have to wait. See [`Wire::send`].
    pub(crate) async fn send(&self, message: &[u8]) -> Result<(), Closed> {
        self.wire.send(message).await?;
        self.show_line(message);
        Ok(())
    }

    /// Sends something that must not wait. See [`Wire::push`].
    pub(super) fn push(&self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), serde_json::Error>) {
        if self.profile.tap.is_none() {
            return self.wire.push(write);
        }
        let mut message = Vec::new();
        self.wire.push(|out| {
            write(&mut message)?;
            out.extend_from_slice(&message);
            Ok(())
        });
        self.show_line(&message);
    }

    /// Over HTTP a message is shown when it is posted.
    fn show_line(&self, message: &[u8]) {
        if !self.wire.is_http() {
            self.show(Direction::Out, message);
        }
    }

    /// Shows a message to whoever looks on.
    pub(crate) fn show(&self, direction: Direction, message: &[u8]) {
        if let Some(tap) = &self.profile.tap {
            tap.show(Passing {
                direction,
                server: self.server(),
                message,
            });
        }
    }
}

/// How far a connection is from its end.
#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Open,
    /// Nothing comes any more, but the server's process may still be there.
    Lost(Arc<Ending>),
    /// All is over.
    Ended(Arc<Ending>),
}

impl Link {
    pub(crate) fn new(label: Arc<str>, profile: Arc<Profile>) -> Self {
        let wire = Wire::new(profile.settings.limits);
        Self::over(wire, label, profile)
    }

    /// A connection over HTTP.
    #[cfg(feature = "http")]
    pub(crate) fn over_http(label: Arc<str>, profile: Arc<Profile>, http: Arc<Http>) -> Self {
        let wire = Wire::over_http(profile.settings.limits, http);
        Self::over(wire, label, profile)
    }

    fn over(wire: Wire, label: Arc<str>, profile: Arc<Profile>) -> Self {
        Self {
            label,
            wire,
            profile,
            pending: Pending::default(),
            feed: Feed::default(),
            listeners: Listeners::default(),
            standing: Standing::default(),
            desk: Desk::default(),
            parking: Parking::default(),
            scoped: Scoped::default(),
            schemas: OutputSchemas::default(),
            #[cfg(feature = "http")]
            tools: KnownTools::default(),
            names: Names::default(),
            stray: Notify::new(),
            peer: OnceLock::new(),
            stamp: RwLock::new(Stamp::none()),
            stage: watch::Sender::new(Stage::Open),
            hurry: watch::Sender::new(None),
        }
    }

    /// Gives the server's process this long at each step of its end, from now on.
    pub(crate) fn hurry(&self, grace: Duration) {
        self.hurry.send_replace(Some(grace));
    }

    /// How long the server's process has at each step of its end.
    pub(crate) fn grace(&self) -> Duration {
        let usual = self.profile.settings.grace;
        self.hurry.borrow().unwrap_or(usual)
    }

    /// Ready when somebody is in a hurry to see the server end.
    pub(crate) async fn hurried(&self) {
        let mut hurry = self.hurry.subscribe();
        // The sender is ours, so that it cannot be gone.
        let _ = hurry.wait_for(Option::is_some).await;
    }

    /// What to call the server in messages.
    pub(crate) fn server(&self) -> &Arc<str> {
        self.peer().map_or(&self.label, |peer| peer.label())
    }

    /// Who is at the other end, once that has been found out.
    pub(crate) fn peer(&self) -> Option<&Arc<Peer>> {
        self.peer.get()
    }

    /// The revision to speak. While it is being found out, the newest that has a handshake: a
    /// server that speaks up before it has answered is a legacy one.
    pub(crate) fn revision(&self) -> Revision {
        self.peer()
            .map_or(Revision::LATEST_LEGACY, |peer| peer.revision())
    }

    /// Settles who is at the other end.
    pub(crate) fn meet(&self, peer: Peer) -> &Arc<Peer> {
        let peer = self.peer.get_or_init(|| Arc::new(peer));
        self.stamp_with(peer.revision(), self.profile.settings.log_level);
        peer
    }

    /// What every request carries from now on.
    pub(crate) fn stamp_with(&self, revision: Revision, log_level: Option<LoggingLevel>) {
        let stamp = if revision.is_modern() {
            let capabilities = self.profile.capabilities(revision);
            Stamp::modern(revision, &self.profile.client, &capabilities, log_level)
        } else {
            Stamp::none()
        };
        *self.stamp.write() = stamp;
    }

    pub(super) fn stamp(&self) -> RwLockReadGuard<'_, Stamp> {
        self.stamp.read()
    }

    /// The error for a call on a connection that is over.
    pub(crate) fn closed(&self, method: &str) -> CallError {
        let ending = match &*self.stage.borrow() {
            Stage::Open => Arc::default(),
            Stage::Lost(ending) | Stage::Ended(ending) => ending.clone(),
        };
        CallError::Closed {
            server: self.server().clone(),
            method: method.into(),
            ending,
        }
    }

    /// Ends everything that waits: the server will not answer any more.
    pub(crate) fn lose(&self, ending: Ending) {
        self.leave(Stage::Lost(Arc::new(ending)));
    }

    /// Says how it all ended.
    pub(super) fn end(&self, ending: Ending) {
        self.leave(Stage::Ended(Arc::new(ending)));
    }

    /// Says that all is over, for the reason it was lost by, if it was.
    #[cfg(feature = "http")]
    pub(crate) fn end_as_lost(&self) {
        let ending = match &*self.stage.borrow() {
            Stage::Open => Arc::default(),
            Stage::Lost(ending) | Stage::Ended(ending) => ending.clone(),
        };
        self.leave(Stage::Ended(ending));
    }

    /// Ends what is left when nobody is there to say how it ended.
    pub(super) fn abandon(&self) {
        if !matches!(&*self.stage.borrow(), Stage::Ended(_)) {
            let failure = Some("its connection was abandoned".to_owned());
            self.end(Ending {
                failure,
                ..Ending::default()
            });
        }
    }

    fn leave(&self, stage: Stage) {
        // First the reason, then the calls that will ask for it.
        self.stage.send_replace(stage);
        self.pending.close();
        self.feed.close();
        self.listeners.close();
        self.parking.clear();
    }

    /// Waits until all is over.
    pub(crate) async fn ended(&self) -> Arc<Ending> {
        let mut stage = self.stage.subscribe();
        loop {
            if let Stage::Ended(ending) = &*stage.borrow_and_update() {
                return ending.clone();
            }
            if stage.changed().await.is_err() {
                // The sender lives as long as `self`.
                return Arc::default();
            }
        }
    }

    /// Whether nothing can be asked any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.wire.is_closed()
    }

    /// Tells a server that keeps a list of roots that it is out of date.
    pub(super) fn announce_roots(&self) {
        if self.peer().is_some_and(|peer| !peer.revision().is_modern()) {
            self.notify("notifications/roots/list_changed", &());
        }
    }
}
