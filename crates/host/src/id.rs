//! The ids of servers and conversations.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The id that the host gives a server: its name in the config file or in the code.
///
/// Every question, log message, call and decision carries it. Do not identify servers by the name
/// that they give themselves: two servers may use the same name, and any server may use the name of
/// another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerId(Arc<str>);

impl ServerId {
    /// Makes an id from a name. The name should be unique among the servers of the host. Strings
    /// are converted implicitly, as in `host.state("git")`, so you rarely need to call this.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The id as text, as it is written in config files, rules and the audit log.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        self.0.clone()
    }
}

impl fmt::Display for ServerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for ServerId {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for ServerId {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl From<&ServerId> for ServerId {
    fn from(id: &ServerId) -> Self {
        id.clone()
    }
}

/// The id of a conversation of this process.
///
/// Questions to the user and the audit log carry it, so that an application can tell its
/// conversations apart. Grants for one conversation end with it. Ids are not kept from one run to
/// the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConversationId(u64);

impl ConversationId {
    /// A new id, which no other conversation of this process has.
    pub(crate) fn next() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    /// The number that identifies a conversation's calls; 0 for calls without a conversation.
    pub(crate) fn tag(conversation: Option<Self>) -> u64 {
        // No conversation has the number 0.
        conversation.map_or(0, |it| it.0)
    }

    /// The conversation of a tag; `None` for 0.
    pub(crate) fn of_tag(tag: u64) -> Option<Self> {
        (tag != 0).then_some(Self(tag))
    }

    /// The id as a number, which is unique in this process and starts at 1. The audit log records
    /// it as `conversation`.
    pub fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ConversationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
