//! Why there is no connection.

use std::{io, sync::Arc};

use turnbuckle_session::probe::{Failure, Reason};
use turnbuckle_transport::SpawnError;

use super::{
    Ending,
    call_error::{after_colon, in_brackets},
};

/// Why a connection could not be opened. Each variant says what was tried; its message says what to
/// do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The server's program could not be started: check its name, the `PATH` and the directory.
    #[error("server `{server}` could not be started")]
    Spawn {
        /// The server.
        server: Arc<str>,
        /// Which program, and why.
        #[source]
        source: SpawnError,
    },
    /// The way to the server could not be opened.
    #[error("server `{server}` could not be reached")]
    Unreachable {
        /// The server.
        server: Arc<str>,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// What was given to reach the server by cannot be used: a URL, a header, a proxy, a
    /// certificate.
    #[error("server `{server}` cannot be connected to as it was given")]
    Misconfigured {
        /// The server.
        server: Arc<str>,
        /// The problem.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server wants other credentials.
    #[error(
        "server `{server}` refused the connection with HTTP status {status}: it wants authorization{}{}",
        in_brackets(challenge.as_deref()),
        after_colon(text)
    )]
    Unauthorized {
        /// The server.
        server: Arc<str>,
        /// 401 if the caller is unknown, 403 if the caller lacks permission.
        status: u16,
        /// Its `WWW-Authenticate` header.
        challenge: Option<Box<str>>,
        /// The text of its answer, shortened.
        text: String,
    },
    /// The hook that was to get credentials for the server failed. The cause says what to do.
    #[error("server `{server}` needs authorization, and that failed")]
    Authorization {
        /// The server.
        server: Arc<str>,
        /// The hook's own error.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server went away before it had answered: its last words may say why.
    #[error("server `{server}` ended before it answered{ending}")]
    Ended {
        /// The server.
        server: Arc<str>,
        /// How it ended, with the last words of its process.
        ending: Arc<Ending>,
        /// The attempts.
        #[source]
        source: Box<Failure>,
    },
    /// The server is there, but does not answer: is it an MCP server, and does it wait for
    /// something else?
    #[error("server `{server}` did not answer{ending}")]
    TimedOut {
        /// The server.
        server: Arc<str>,
        /// The exit and the last output of its process.
        ending: Arc<Ending>,
        /// The attempts.
        #[source]
        source: Box<Failure>,
    },
    /// The server speaks no revision that is allowed here: allow more, or update one of the two.
    #[error("server `{server}` speaks no revision allowed here")]
    Unsupported {
        /// The server.
        server: Arc<str>,
        /// The revisions of both sides, and the attempts.
        #[source]
        source: Box<Failure>,
    },
    /// The server answered, but not with what was asked for.
    #[error("server `{server}` refused the connection{ending}")]
    Refused {
        /// The server.
        server: Arc<str>,
        /// The exit and the last output of its process.
        ending: Arc<Ending>,
        /// Its answer, and the attempts.
        #[source]
        source: Box<Failure>,
    },
}

impl ConnectError {
    pub(crate) fn failed(server: Arc<str>, failure: Failure, ending: Arc<Ending>) -> Self {
        let source = Box::new(failure);
        match source.reason {
            Reason::Closed => Self::Ended {
                server,
                ending,
                source,
            },
            Reason::Unresponsive => Self::TimedOut {
                server,
                ending,
                source,
            },
            Reason::NothingAllowed
            | Reason::NoCommonRevision { .. }
            | Reason::UnsupportedAnswer { .. }
            | Reason::NotModern => Self::Unsupported { server, source },
            _ => Self::Refused {
                server,
                ending,
                source,
            },
        }
    }
}
