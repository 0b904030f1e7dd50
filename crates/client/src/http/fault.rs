//! Why a POST has no answer.

use std::{sync::Arc, time::Duration};

use turnbuckle_transport::http::client::{BoxError, HttpError};

use crate::error::CallError;

/// How much of an error page is shown, in characters: a sentence or two.
const SHOWN_CHARACTERS: usize = 300;

/// The longest that a call waits because a server asks it to: a minute, as long as calls have by
/// default. One that wants more fails, and its error says how long.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(1);

/// Why a POST brought no answer.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The request was not sent.
    Unsent(BoxError),
    /// The hook for authorization gave no credentials; nothing ran.
    Authorization(BoxError),
    /// The connection broke; the server may have received the request.
    Lost(BoxError),
    /// An HTTP error status without a JSON-RPC error.
    Status {
        status: u16,
        text: String,
        /// How long the server asks to be left alone.
        retry_after: Option<Duration>,
    },
    /// Credentials are missing, or not enough.
    Unauthorized {
        status: u16,
        challenge: Option<Box<str>>,
        text: String,
    },
    /// The session has ended, for this reason.
    SessionExpired(String),
    /// The answer is longer than so many bytes.
    Oversized(usize),
    /// The response is not a valid answer.
    Malformed(String),
}

impl Fault {
    pub(crate) fn into_error(self, server: Arc<str>, method: &str) -> CallError {
        let method = method.into();
        match self {
            Self::Unsent(source) => CallError::Unsent {
                server,
                method,
                source,
            },
            Self::Authorization(source) => CallError::Authorization {
                server,
                method,
                source,
            },
            Self::Lost(source) => CallError::Lost {
                server,
                method,
                source,
            },
            Self::Status {
                status,
                text,
                retry_after,
            } => CallError::Status {
                server,
                method,
                status,
                text,
                retry_after,
            },
            Self::Unauthorized {
                status,
                challenge,
                text,
            } => CallError::Unauthorized {
                server,
                method,
                status,
                challenge,
                text,
            },
            Self::SessionExpired(reason) => CallError::SessionExpired {
                server,
                method,
                reason,
            },
            Self::Oversized(limit) => CallError::Oversized {
                server,
                method,
                limit,
            },
            Self::Malformed(problem) => {
                CallError::malformed(server, &method, serde::de::Error::custom(problem))
            }
        }
    }
}

impl Fault {
    /// How long to wait before the same is sent once more, where the server has turned it away
    /// unread and says when to come back.
    pub(crate) fn come_back_after(&self) -> Option<Duration> {
        match self {
            Self::Status {
                status: 429 | 503,
                retry_after,
                ..
            } => retry_after.filter(|wait| *wait <= LONGEST_RETRY_AFTER),
            _ => None,
        }
    }
}

impl From<HttpError> for Fault {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::TooLarge { limit } => Self::Oversized(limit),
            HttpError::Authorize { source, .. } => Self::Authorization(source),
            error if error.is_unsent() => Self::Unsent(error.into()),
            error => Self::Lost(error.into()),
        }
    }
}

/// A server's text, made short and put on one line for use in an error message.
pub(super) fn shown(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean
        .take(SHOWN_CHARACTERS)
        .collect::<String>()
        .trim()
        .to_owned()
}
