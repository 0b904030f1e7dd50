//! Limits on the number of listeners and on their resources.

use std::sync::Arc;

use turnbuckle_protocol::error::code;

use crate::{
    Reject,
    quota::{Over, Quota},
};

/// Listen requests of all callers. Each keeps a connection or a stream open, which costs about ten
/// kilobytes.
const TOTAL: usize = 10_000;

/// Listen requests of one caller: a tenth of all.
const PER_CALLER: usize = 1000;

/// The number of resources that one listener may subscribe to. It is far more than a person or a
/// model watches, and small enough that a change of all of them can be sent quickly.
const MAX_RESOURCES: usize = 1000;

/// The bytes that the URIs of one listener may have.
const MAX_URI_BYTES: usize = 128 * 1024;

/// What a resource costs in addition to its URI: an entry in the table of topics and one in the
/// topic.
const RESOURCE_BYTES: usize = 256;

/// How many copies of a URI are kept: in the topic, in the table, and in the two notifications.
const COPIES: usize = 4;

/// How many `subscriptions/listen` requests may be open at a time.
///
/// A caller is identified by the guard or a layer, otherwise by its address.
///
/// ```
/// use turnbuckle_server::{ListenerLimits, Server};
///
/// let limits = ListenerLimits::default().with_per_caller(20);
/// let server = Server::new("news", "1.0.0").listeners(limits);
/// # server.build().unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenerLimits {
    /// Open `subscriptions/listen` requests of all callers. Defaults to 10,000. Sessions have their
    /// own [limit](crate::HttpSettings::max_sessions).
    pub total: usize,
    /// Open `subscriptions/listen` requests of one caller. Defaults to 1,000.
    pub per_caller: usize,
}

impl Default for ListenerLimits {
    fn default() -> Self {
        Self {
            total: TOTAL,
            per_caller: PER_CALLER,
        }
    }
}

impl ListenerLimits {
    /// Sets how many listen requests may be open in total. A further request is rejected with an
    /// error that says to try again later.
    pub fn with_total(mut self, listeners: usize) -> Self {
        self.total = listeners;
        self
    }

    /// Sets how many listen requests of one caller may be open. A further request is rejected.
    pub fn with_per_caller(mut self, listeners: usize) -> Self {
        self.per_caller = listeners;
        self
    }

    pub(super) fn quota(self) -> Arc<Quota> {
        Quota::new(self.total, self.per_caller)
    }
}

/// The bytes that a subscription to a resource counts as.
pub(super) fn cost_of(uri: &str) -> usize {
    RESOURCE_BYTES + COPIES * uri.len()
}

/// The resources that one listener has subscribed to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NamedResources {
    count: usize,
    uri_bytes: usize,
}

impl NamedResources {
    pub(super) fn add(&mut self, uri: &str) -> Result<(), TooMany> {
        let bytes = self.uri_bytes + uri.len();
        if self.count == MAX_RESOURCES || bytes > MAX_URI_BYTES {
            return Err(TooMany::Resources);
        }
        self.count += 1;
        self.uri_bytes = bytes;
        Ok(())
    }

    pub(super) fn remove(&mut self, uri: &str) {
        self.count -= 1;
        self.uri_bytes -= uri.len();
    }
}

/// The limit of listeners, or of their subscriptions, is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMany {
    #[error(
        "a subscription may name at most {MAX_RESOURCES} resources, with URIs of {MAX_URI_BYTES} \
         bytes in all: unsubscribe from some, or listen to fewer"
    )]
    Resources,
    #[error("you have {0} listen requests open: end one, or raise `ListenerLimits::per_caller`")]
    OfCaller(usize),
    #[error("{0} listen requests are open: try again later, or raise `ListenerLimits::total`")]
    OfAll(usize),
    #[error(
        "your sessions and subscriptions take more than {0} bytes: end some, or raise \
         `MemoryBudget::kept_per_caller`"
    )]
    BytesOfCaller(usize),
    #[error(
        "all sessions and subscriptions take more than {0} bytes: try again later, or raise \
         `MemoryBudget::kept`"
    )]
    BytesOfAll(usize),
}

impl TooMany {
    pub(super) fn listeners(over: Over) -> Self {
        match over {
            Over::Caller(limit) => Self::OfCaller(limit),
            Over::Total(limit) => Self::OfAll(limit),
        }
    }

    pub(crate) fn bytes(over: Over) -> Self {
        match over {
            Over::Caller(limit) => Self::BytesOfCaller(limit),
            Over::Total(limit) => Self::BytesOfAll(limit),
        }
    }
}

impl From<TooMany> for Reject {
    fn from(too_many: TooMany) -> Self {
        match too_many {
            TooMany::Resources => Self::invalid_params(too_many.to_string()),
            _ => Self::new(code::TOO_MANY_REQUESTS, too_many.to_string()),
        }
    }
}
