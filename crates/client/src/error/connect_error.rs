//! `ConnectError`: why a connection could not be opened.

use std::{io, sync::Arc};

use turnbuckle_session::probe::{ProbeFailure, Reason};
use turnbuckle_transport::SpawnError;

use super::{
    Ending,
    call_error::{after_colon, in_brackets},
};

/// Why a connection could not be opened. Each variant says what was tried; its message says what to do.
///
/// Print the whole chain of sources, because it contains the cause, such as the answer of the server.
/// `Ended`, `TimedOut`, `Unsupported` and `Refused` have a [`ProbeFailure`] as their source, which
/// lists the attempts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The server's program could not be started. Check its name, the `PATH` and the directory.
    #[error("server `{server}` could not be started")]
    Spawn {
        /// The server.
        server: Arc<str>,
        /// The program, and the reason.
        #[source]
        source: SpawnError,
    },
    /// The server could not be reached: the name does not resolve, the connection was refused or
    /// timed out, or TLS failed. Trying again later may help.
    #[error("server `{server}` could not be reached")]
    Unreachable {
        /// The server.
        server: Arc<str>,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// A setting of the connection is invalid: a URL, a header, a proxy or a certificate.
    #[error("invalid connection settings for server `{server}`")]
    Misconfigured {
        /// The server.
        server: Arc<str>,
        /// The problem.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server requires other credentials. Set a header, or an OAuth hook with
    /// `HttpTarget::authorize`.
    #[error(
        "server `{server}` refused the connection with HTTP status {status}: it requires authorization{}{}",
        in_brackets(challenge.as_deref()),
        after_colon(text)
    )]
    Unauthorized {
        /// The server.
        server: Arc<str>,
        /// 401 if the caller is unknown, 403 if the caller lacks permission.
        status: u16,
        /// The `WWW-Authenticate` header of the response.
        challenge: Option<Box<str>>,
        /// The text of the response, shortened.
        text: String,
    },
    /// The hook for authorization failed to get credentials for the server. Its error, the source, says
    /// what to do.
    #[error("server `{server}` needs authorization, and that failed")]
    Authorization {
        /// The server.
        server: Arc<str>,
        /// The error of the hook.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The server exited or closed the connection before it answered. The last lines of its standard
    /// error often say why: a missing argument, a missing module.
    #[error("server `{server}` ended before it answered{ending}")]
    Ended {
        /// The server.
        server: Arc<str>,
        /// How it ended, with the last lines of its standard error.
        ending: Arc<Ending>,
        /// The attempts.
        #[source]
        source: Box<ProbeFailure>,
    },
    /// The server can be reached, but does not answer. Check that it is an MCP server, and that it does
    /// not wait for anything else, such as user input.
    #[error("server `{server}` did not answer{ending}")]
    TimedOut {
        /// The server.
        server: Arc<str>,
        /// The exit and the last output of its process.
        ending: Arc<Ending>,
        /// The attempts.
        #[source]
        source: Box<ProbeFailure>,
    },
    /// The server supports none of the allowed revisions. Allow more revisions than
    /// [`Client::only`](crate::Client::only) does, or update the server or this client.
    #[error("server `{server}` supports none of the allowed revisions")]
    Unsupported {
        /// The server.
        server: Arc<str>,
        /// The revisions of both sides, and the attempts.
        #[source]
        source: Box<ProbeFailure>,
    },
    /// The server answered, but with an error, or with something that is not MCP. The source contains
    /// the answer.
    #[error("server `{server}` refused the connection{ending}")]
    Refused {
        /// The server.
        server: Arc<str>,
        /// The exit and the last output of its process.
        ending: Arc<Ending>,
        /// The server's answer, and the attempts.
        #[source]
        source: Box<ProbeFailure>,
    },
}

impl ConnectError {
    pub(crate) fn failed(server: Arc<str>, failure: ProbeFailure, ending: Arc<Ending>) -> Self {
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
