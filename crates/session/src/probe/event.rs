//! Events of a connection during a probe.

use std::time::Duration;

/// The two requests of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// `server/discover`.
    Discover,
    /// `initialize`.
    Initialize,
}

impl std::fmt::Display for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Discover => "server/discover",
            Self::Initialize => "initialize",
        })
    }
}

/// An event of a connection. Match answers with requests by their ids, so that late answers are
/// recognised. Do not report notifications, requests of the server or noise: they are not answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is open: the first one, or the one that [`Reopen`](super::Action::Reopen)
    /// requested. After this, no events of earlier connections may be reported.
    Started,
    /// `server/discover` was answered with a list of versions.
    Discovered {
        /// Its `supportedVersions`.
        versions: Vec<String>,
    },
    /// `initialize` was answered with a version.
    Initialized {
        /// Its `protocolVersion`.
        version: String,
        /// How long the answer took, since the server was started for it or since the request was sent.
        took: Duration,
    },
    /// One of the two requests was answered, but not with a result.
    Refused {
        /// The request.
        asked: Asked,
        /// The answer.
        refusal: ProbeRefusal,
        /// The error's message.
        message: String,
        /// The strings under `supported` in the error's data; empty if there are none.
        supported: Vec<String>,
    },
    /// An answer that fits no request: a result without a version, an error without an id, a response
    /// with an unknown id.
    Garbage,
    /// The time given with the last action has passed.
    Timeout,
    /// The process has exited, or the connection is gone.
    Closed,
    /// The second connection has closed, or could not be opened.
    SecondClosed,
}

/// An answer that is not a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeRefusal {
    /// A JSON-RPC error, with its code.
    Error(i64),
    /// An HTTP status without a JSON-RPC error.
    Status(u16),
    /// Not an answer of MCP.
    NoAnswer,
}
