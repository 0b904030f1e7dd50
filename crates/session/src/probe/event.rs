//! Events of a connection during a probe.

use std::time::Duration;

/// The two questions a search asks.
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

/// Something that happened. Feed answers by the id of the request they belong to, so that a late
/// one is recognised. Do not feed notifications, requests of the server or noise: they are not
/// answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection is open: the first one, or the one that [`Reopen`](super::Action::Reopen)
    /// asked for. From then on nothing of an earlier connection may be fed.
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
        /// How long the answer took: since the server was started for it, or since it was asked.
        took: Duration,
    },
    /// One of the two was answered, but not with a result.
    Refused {
        /// Which.
        asked: Asked,
        /// The answer that came instead.
        refusal: ProbeRefusal,
        /// The error's message.
        message: String,
        /// The strings under `supported` in the error's data; empty if they are missing.
        supported: Vec<String>,
    },
    /// Something like an answer, but to no question: a result without a version, an error without
    /// an id, a reply to an id never sent.
    Garbage,
    /// The time given with the last action has passed.
    Timeout,
    /// The process has exited, or the connection is gone.
    Closed,
    /// The same for the second connection, if it could be opened at all.
    SecondClosed,
}

/// The answer in place of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeRefusal {
    /// An error of JSON-RPC, with its code.
    Error(i64),
    /// A status of HTTP that came without one.
    Status(u16),
    /// No answer of MCP at all.
    NoAnswer,
}
