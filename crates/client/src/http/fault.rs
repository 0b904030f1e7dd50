//! Why a POST failed.

use std::{sync::Arc, time::Duration};

use turnbuckle_transport::http::client::{BoxError, HttpError};

use crate::error::CallError;

/// How many characters of an error page are shown: a sentence or two.
const SHOWN_CHARACTERS: usize = 300;

/// The longest time that a call waits because a server asks it to: a minute, the default deadline of
/// calls. If the server asks for more, the call fails, and its error contains the time.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(1);

/// Why a POST failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The request was not sent.
    Unsent(BoxError),
    /// The hook for authorization returned no credentials; the request was not sent or was refused.
    Authorization(BoxError),
    /// The connection broke; the server may have received the request.
    Lost(BoxError),
    /// An HTTP error status without a JSON-RPC error.
    Status {
        status: u16,
        text: String,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// The credentials are missing or insufficient.
    Unauthorized {
        status: u16,
        challenge: Option<Box<str>>,
        text: String,
    },
    /// The session has ended, for this reason.
    SessionExpired(String),
    /// The answer is longer than this number of bytes.
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
    /// How long to wait before the request is sent again, if the server refused it without reading it
    /// and says when to retry.
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

/// Why the server did not accept a message that has no response.
#[derive(Debug)]
pub(crate) enum TellError {
    /// No connection could be made.
    Unreachable(Fault),
    /// The connection was lost before the server accepted the message. It may have the message.
    Lost(Fault),
    /// The server refused the message, or the message cannot be sent. Sending it again would not help.
    Refused(Fault),
}

impl TellError {
    pub(crate) fn into_fault(self) -> Fault {
        match self {
            Self::Unreachable(fault) | Self::Lost(fault) | Self::Refused(fault) => fault,
        }
    }
}

impl From<HttpError> for TellError {
    fn from(error: HttpError) -> Self {
        match error {
            HttpError::Unreachable { .. } => Self::Unreachable(error.into()),
            HttpError::Unanswered { .. } | HttpError::Broken { .. } => Self::Lost(error.into()),
            error => Self::Refused(error.into()),
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

/// Shortens a server's text and puts it on one line for an error message.
pub(super) fn shown(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean
        .take(SHOWN_CHARACTERS)
        .collect::<String>()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use turnbuckle_transport::http::client::Address;

    use super::*;

    /// Whether a message is sent again after this error: never, or if it is an answer, or always.
    fn class_of(error: HttpError) -> &'static str {
        match TellError::from(error) {
            TellError::Unreachable(_) => "always",
            TellError::Lost(_) => "an answer",
            TellError::Refused(_) => "never",
        }
    }

    #[test]
    fn only_what_may_pass_is_sent_again() {
        let address: Address = Address::parse("http://127.0.0.1:1/mcp").expect("an address");
        let source = || BoxError::from("closed");
        for (error, expected) in [
            (
                HttpError::Unreachable {
                    address: address.clone(),
                    source: source(),
                },
                "always",
            ),
            (
                HttpError::Unanswered {
                    address: address.clone(),
                    source: source(),
                },
                "an answer",
            ),
            (
                HttpError::Broken {
                    address: address.clone(),
                    source: source(),
                },
                "an answer",
            ),
            (
                HttpError::Unreadable {
                    address: address.clone(),
                    source: source(),
                },
                "never",
            ),
            (
                HttpError::NoTls {
                    address: address.clone(),
                },
                "never",
            ),
            (HttpError::RedirectedTooOften { address, limit: 3 }, "never"),
        ] {
            let text = error.to_string();
            assert_eq!(class_of(error), expected, "{text}");
        }
    }
}
