//! Errors of requests and their responses.

use super::{Address, AddressError, BoxError};

/// Why there is no response, or no complete one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// The URL is invalid.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The URL is `https`, and the feature `tls` is off.
    #[error("{address} needs TLS; build with feature `tls`")]
    NoTls {
        /// The address of the request.
        address: Address,
    },
    /// There are no root certificates for checking the server's certificate.
    #[error("no root certificates can be used: {reason}")]
    Roots {
        /// The problem.
        reason: String,
    },
    /// The proxy that was set cannot be used.
    #[error("the proxy cannot be used: {reason}")]
    Proxy {
        /// The reason.
        reason: String,
    },
    /// A header that was set cannot be sent. Its value is not shown, because it may be a secret.
    #[error("header `{name}` cannot be sent: {reason}")]
    Header {
        /// The name of the header.
        name: String,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// The connection could not be opened; nothing was sent.
    #[error("cannot connect to {address}")]
    Unreachable {
        /// The address of the request.
        address: Address,
        /// The cause.
        source: BoxError,
    },
    /// The connection closed after the request was sent, or while it was being sent, without a
    /// response. The server may have closed an idle connection just when it was used again, or failed
    /// because of the request.
    #[error("the connection to {address} was closed without an answer")]
    Unanswered {
        /// The address of the request.
        address: Address,
        /// The cause.
        source: BoxError,
    },
    /// The response is not valid HTTP.
    #[error("the answer of {address} is not valid HTTP")]
    Unreadable {
        /// The address of the request.
        address: Address,
        /// The rule that the response breaks.
        source: BoxError,
    },
    /// The connection broke in the middle of the response.
    #[error("the connection to {address} broke before the answer was complete")]
    Broken {
        /// The address of the request.
        address: Address,
        /// The cause.
        source: BoxError,
    },
    /// The server redirects to another server, and the redirect was not followed, because credentials
    /// must only be sent to the server that they are for.
    #[error(
        "{address} redirects to {to}, which is not followed; connect to that address directly if \
         you trust it"
    )]
    Redirected {
        /// The address of the request.
        address: Address,
        /// The target of the redirect, without its query.
        to: String,
    },
    /// The server redirects the request too often.
    #[error("{address} redirects more than {limit} times")]
    RedirectedTooOften {
        /// The first address of the request.
        address: Address,
        /// The limit on redirects.
        limit: usize,
    },
    /// The hook for authorization failed.
    #[error("{address} requires authorization, which failed")]
    Authorize {
        /// The address of the request.
        address: Address,
        /// The error of the hook.
        source: BoxError,
    },
    /// The response is longer than the limit.
    #[error("the answer is longer than {limit} bytes; raise the limit or ask for less")]
    TooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
}

impl HttpError {
    /// Whether it is certain that the server has not received the request, or has not acted on it.
    pub fn is_unsent(&self) -> bool {
        !matches!(
            self,
            Self::Unanswered { .. }
                | Self::Unreadable { .. }
                | Self::Broken { .. }
                | Self::TooLarge { .. }
        )
    }

    /// Whether the request was sent, and the connection closed without a response.
    pub fn is_unanswered(&self) -> bool {
        matches!(self, Self::Unanswered { .. })
    }
}
