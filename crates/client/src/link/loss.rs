//! Reports the loss of a stream or a session to listeners.

use super::Link;
use crate::error::CallError;

const METHOD: &str = "subscriptions/listen";

impl Link {
    /// Another session has taken the place of one that was over. What the old one kept is asked for
    /// again, by a task of the connection; listeners are told that something may have been
    /// missed.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "a session over a pipe ends with it")
    )]
    pub(crate) fn session_reopened(&self) {
        self.desired.reopened();
        self.cache.forget_unheard();
        self.changes.missed();
    }

    /// The stream by which a session speaks was broken, and goes on now without what was said in
    /// between.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "a pipe has no gaps")
    )]
    pub(crate) fn stream_reopened(&self) {
        self.cache.forget_unheard();
        self.changes.missed();
    }

    /// The session's stream from the server is not available, and will not be: changes are no
    /// longer reported.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "over a pipe this is the end of the connection")
    )]
    pub(crate) fn stream_gone(&self, reason: &'static str) {
        self.desired.fall_silent();
        self.changes
            .fail(|| CallError::lost(self.server(), METHOD, reason));
    }

    /// An error for one more of those who have to be told of it. Refusals and the end of the
    /// connection stay what they are; of the rest the text is enough.
    pub(crate) fn again(&self, error: &CallError) -> CallError {
        match error {
            CallError::Rejected {
                server,
                method,
                error,
            } => CallError::Rejected {
                server: server.clone(),
                method: method.clone(),
                error: error.clone(),
            },
            CallError::Closed { method, .. } => self.closed(method),
            other => CallError::lost(self.server(), METHOD, other.to_string()),
        }
    }
}
