//! The state of a session that its client changes after the handshake.

use std::{collections::BTreeSet, time::Duration};

use crate::{BoxFuture, StoreError};

/// How many resources one session may subscribe to if replicas share it. Each replica has its own,
/// lower limit; this one bounds the store if several replicas accept subscriptions at the same
/// time.
pub const MAX_RESOURCES: usize = 4096;

/// What a client has changed since the handshake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionState {
    /// Whether the session has ended.
    pub is_ended: bool,
    /// The level set with `logging/setLevel`.
    pub log_level: Option<String>,
    /// The URIs subscribed to with `resources/subscribe`.
    pub resources: BTreeSet<String>,
}

/// A change by the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// `logging/setLevel`.
    LogLevel(String),
    /// `resources/subscribe`.
    Subscribe(String),
    /// `resources/unsubscribe`.
    Unsubscribe(String),
    /// The session ends. Later changes are refused.
    End,
}

/// Stores the session data that replicas share. `contract::sessions` tests the guarantees of each method.
pub trait Sessions: Send + Sync + 'static {
    /// Returns what a client has changed; an empty state for an unknown session.
    fn read<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<SessionState, StoreError>>;

    /// Stores a change, and keeps it and all earlier ones for this long from now. Returns false if
    /// the session has ended, or already has [`MAX_RESOURCES`] subscriptions.
    fn write<'a>(
        &'a self,
        session: &'a str,
        change: SessionChange,
        keep: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Stores the large part of a handshake for this long from now.
    fn keep_handshake<'a>(
        &'a self,
        session: &'a str,
        part: Vec<u8>,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns the large part of a handshake, if it is stored.
    fn handshake<'a>(
        &'a self,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, StoreError>>;
}
