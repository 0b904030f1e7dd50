//! Errors between sending a request and reading its answer.

use super::{Address, AddressError, BoxError};

/// Why there is no answer, or no whole one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The URL is invalid.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The URL is `https`, and the feature `tls` is off.
    #[error("{address} needs TLS; build with feature `tls`")]
    NoTls {
        /// Where the request was to go.
        address: Address,
    },
    /// There are no root certificates to check the server's certificate with.
    #[error("no root certificates can be used: {reason}")]
    Roots {
        /// The problem.
        reason: String,
    },
    /// The proxy that was set cannot be used.
    #[error("the proxy cannot be used: {reason}")]
    Proxy {
        /// Why.
        reason: String,
    },
    /// A header that was set cannot be sent. Its value is not shown: it may be a secret.
    #[error("header `{name}` cannot be sent: {reason}")]
    Header {
        /// Its name.
        name: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// The connection could not be opened; nothing was sent.
    #[error("cannot connect to {address}")]
    Unreachable {
        /// Where the request was to go.
        address: Address,
        /// The cause.
        source: BoxError,
    },
    /// The connection broke after the request was sent, or while it was being sent, and nothing
    /// came back: the server may have closed a connection that was kept just when it was used
    /// again, or the request was too much for it.
    #[error("the connection to {address} was closed without an answer")]
    Unanswered {
        /// Where the request went.
        address: Address,
        /// The cause.
        source: BoxError,
    },
    /// What came back is not an answer of HTTP that can be read.
    #[error("the answer of {address} is not valid HTTP")]
    Unreadable {
        /// Where the request went.
        address: Address,
        /// Which rule it breaks.
        source: BoxError,
    },
    /// The connection broke in the middle of the answer.
    #[error("the connection to {address} broke before the answer was complete")]
    Broken {
        /// Where the request went.
        address: Address,
        /// The cause.
        source: BoxError,
    },
    /// The server sent the request elsewhere, and it was not followed: credentials stay where they
    /// were meant for.
    #[error("{address} redirects to {to}, which is not followed; connect to that if you trust it")]
    Redirected {
        /// Where the request went.
        address: Address,
        /// Where it was sent on to, without its query.
        to: String,
    },
    /// The server redirects the request too often.
    #[error("{address} redirects more than {limit} times")]
    RedirectedTooOften {
        /// Where the request first went.
        address: Address,
        /// How often is followed.
        limit: usize,
    },
    /// The hook for authorization failed.
    #[error("{address} wants authorization, which failed")]
    Authorize {
        /// Where the request was to go.
        address: Address,
        /// The error of the hook.
        source: BoxError,
    },
    /// The answer is longer than the limit.
    #[error("the answer is longer than {limit} bytes; raise the limit or ask for less")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
}

impl HttpError {
    /// Whether it is certain that the server has not seen the request, or has not acted on it.
    pub fn is_unsent(&self) -> bool {
        !matches!(
            self,
            Self::Unanswered { .. }
                | Self::Unreadable { .. }
                | Self::Broken { .. }
                | Self::TooLarge { .. }
        )
    }

    /// Whether the request was sent, and nothing came back before the connection was gone.
    pub fn is_unanswered(&self) -> bool {
        matches!(self, Self::Unanswered { .. })
    }
}
