//! Reports the loss of a session or of its event stream to listeners.

use super::Link;
use crate::error::CallError;

const METHOD: &str = "subscriptions/listen";

impl Link {
    /// Called when another session has replaced an expired one. A task of the connection restores the
    /// subscriptions and the log level, and listeners are told that changes may have been missed.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "a session over a pipe ends with it")
    )]
    pub(crate) fn session_reopened(&self) {
        self.desired.reopened();
        self.cache.forget_unheard();
        self.changes.missed();
    }

    /// Called when the session's event stream has been reopened after it broke. Messages in between
    /// were lost.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "a pipe has no gaps")
    )]
    pub(crate) fn stream_reopened(&self) {
        self.cache.forget_unheard();
        self.changes.missed();
    }

    /// Called when the session's event stream is unavailable for good: changes are not reported any
    /// more.
    #[cfg_attr(
        not(feature = "http"),
        expect(dead_code, reason = "over a pipe this is the end of the connection")
    )]
    pub(crate) fn stream_gone(&self, reason: &'static str) {
        self.desired.fall_silent();
        self.changes
            .fail(|| CallError::lost(self.server(), METHOD, reason));
    }

    /// Makes a copy of an error for another listener. Rejections and the end of the connection keep
    /// their variants; other errors are converted to their text.
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
