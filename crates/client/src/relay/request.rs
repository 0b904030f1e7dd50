//! A request to be passed on.

use std::{sync::Arc, time::Duration};

use turnbuckle_protocol::envelope::RawText;

use crate::link::WantedNotifications;

/// A request to be passed on unchanged. See [`Connection::relay`](crate::Connection::relay).
#[derive(Clone, Debug)]
#[must_use = "it is given to `Connection::relay`"]
pub struct RelayRequest {
    pub(super) method: Arc<str>,
    pub(super) params: Option<RawText>,
    pub(super) wanted: WantedNotifications,
    pub(super) deadline: AnswerDeadline,
}

/// The deadline of the answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum AnswerDeadline {
    /// The client's default deadline.
    Usual,
    Within(Duration),
    Endless,
}

impl RelayRequest {
    /// Creates a request with these params, including `_meta`. They are sent byte for byte, except for
    /// the progress token, which is replaced because tokens belong to a connection.
    ///
    /// For a modern server, `_meta` must contain the version, the client and its capabilities: nothing
    /// is added.
    ///
    /// The params must not have two members of the same name, because the headers of a request repeat
    /// the first one, and the server may use the other. They are not checked again here:
    /// [`parse`](turnbuckle_protocol::envelope::parse) refuses such messages, so params from a message
    /// that it has parsed can be passed on. Check params from elsewhere first.
    pub fn new(method: impl Into<Arc<str>>, params: Option<RawText>) -> Self {
        let method = method.into();
        let is_open_end = &*method == "subscriptions/listen";
        Self {
            method,
            params,
            wanted: WantedNotifications::default(),
            deadline: if is_open_end {
                AnswerDeadline::Endless
            } else {
                AnswerDeadline::Usual
            },
        }
    }

    /// Asks for progress, even if the params have no token.
    pub fn with_progress(mut self) -> Self {
        self.wanted.progress = true;
        self
    }

    /// Asks for the log messages of the call, even if they come on another stream than its answer.
    ///
    /// Some servers at URLs send them on the session's event stream, so a message may still be on its
    /// way when the answer arrives. The answer is then held back until the server has answered a ping.
    /// It is not held back if the server has no such stream, has sent log messages on the streams of
    /// calls, or has sent none after many answers.
    pub fn with_log(mut self) -> Self {
        self.wanted.log = true;
        self
    }

    /// Sets the deadline of the call, instead of the client's.
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = AnswerDeadline::Within(deadline);
        self
    }

    /// Waits without a deadline, for callers that end the call themselves.
    pub fn without_deadline(mut self) -> Self {
        self.deadline = AnswerDeadline::Endless;
        self
    }
}
