//! The two ends of one connection: this client, and the server.

use std::sync::{Arc, OnceLock};

use turnbuckle_protocol::Revision;

use crate::{
    peer::Peer,
    profile::Profile,
    tap::{Direction, WireMessage},
};

/// The two ends of one connection.
#[derive(Debug)]
pub(crate) struct Ends {
    /// The client's name, capabilities and settings.
    pub(crate) profile: Arc<Profile>,
    /// The server's name in errors and logs until the server has reported its own.
    label: Arc<str>,
    peer: OnceLock<Arc<Peer>>,
}

impl Ends {
    pub(crate) fn new(label: Arc<str>, profile: Arc<Profile>) -> Self {
        Self {
            profile,
            label,
            peer: OnceLock::new(),
        }
    }

    /// The server's name in errors and logs.
    pub(crate) fn server(&self) -> &Arc<str> {
        self.peer().map_or(&self.label, |peer| peer.label())
    }

    /// The server, once its revision has been detected.
    pub(crate) fn peer(&self) -> Option<&Arc<Peer>> {
        self.peer.get()
    }

    /// The server, or a placeholder while its revision is being detected.
    pub(crate) fn peer_or_unknown(&self) -> Arc<Peer> {
        let unknown = || Arc::new(Peer::new(self.server(), self.revision()));
        self.peer().cloned().unwrap_or_else(unknown)
    }

    /// The revision in use. While it is being detected, this is the newest with a handshake: a server
    /// that sends a message before it has answered is a legacy server.
    pub(crate) fn revision(&self) -> Revision {
        self.peer()
            .map_or(Revision::LATEST_LEGACY, |peer| peer.revision())
    }

    /// Records the server once its revision has been detected.
    pub(crate) fn meet(&self, peer: Peer) -> &Arc<Peer> {
        self.peer.get_or_init(|| Arc::new(peer))
    }

    /// Shows a message to the client's listener, if it has one.
    pub(crate) fn show(&self, direction: Direction, message: &[u8]) {
        if let Some(tap) = &self.profile.tap {
            tap.show(WireMessage {
                direction,
                server: self.server(),
                message,
            });
        }
    }
}
