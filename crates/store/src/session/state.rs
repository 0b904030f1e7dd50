//! The state of a session that its client changes after the handshake.

use std::{collections::BTreeSet, time::Duration};

use crate::{BoxFuture, StoreError};

/// Resources that one session may be subscribed to where replicas share it. Each replica has a
/// lower limit of its own; this one bounds the store where several replicas take subscriptions at
/// once.
pub const MAX_RESOURCES: usize = 4096;

/// What a client has changed since its handshake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionState {
    /// Whether the session has ended.
    pub is_ended: bool,
    /// The level of `logging/setLevel`.
    pub log_level: Option<String>,
    /// The URIs of `resources/subscribe`.
    pub resources: BTreeSet<String>,
}

/// Something that a client changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// `logging/setLevel`.
    LogLevel(String),
    /// `resources/subscribe`.
    Subscribe(String),
    /// `resources/unsubscribe`.
    Unsubscribe(String),
    /// The session ends. Nothing can be changed after that.
    End,
}

/// Where replicas keep what they share of sessions. What each method promises is tested by
/// `contract::sessions`.
pub trait Sessions: Send + Sync + 'static {
    /// What a client has changed; nothing of a session that is not known.
    fn read<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<SessionState, StoreError>>;

    /// Writes a change down, and keeps it and all before it for so long from now. False if the session
    /// has ended, or is subscribed to [`MAX_RESOURCES`].
    fn write<'a>(
        &'a self,
        session: &'a str,
        change: SessionChange,
        keep: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Keeps the large part of a handshake for so long from now.
    fn keep_handshake<'a>(
        &'a self,
        session: &'a str,
        part: Vec<u8>,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The large part of a handshake, if it is there.
    fn handshake<'a>(
        &'a self,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, StoreError>>;
}
