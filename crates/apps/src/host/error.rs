//! Errors about pages.

use turnbuckle_client::CallError;

/// Why a page cannot be shown, or cannot call a tool. The tool itself still works without the page.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// The `_meta.ui` of the tool cannot be read.
    #[error("invalid `_meta.ui` of tool `{tool}`: {problem}")]
    BadLink {
        /// The tool.
        tool: Box<str>,
        /// The problem.
        problem: Box<str>,
    },
    /// The URI in the tool's metadata is not the URI of a page.
    #[error("the page of tool `{tool}` is at `{uri}`, which does not begin with `ui://`")]
    NotAPage {
        /// The tool.
        tool: Box<str>,
        /// The URI.
        uri: Box<str>,
    },
    /// The server did not return the page.
    #[error("the page at `{uri}` cannot be read")]
    Unread {
        /// The URI.
        uri: Box<str>,
        /// The error of the server.
        #[source]
        source: CallError,
    },
    /// The resource at the URI is not a page.
    #[error("the resource `{uri}` is not a page: {problem}")]
    BadPage {
        /// The URI.
        uri: Box<str>,
        /// The problem.
        problem: Box<str>,
    },
    /// The page is larger than the limit.
    #[error("the page at `{uri}` has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// The URI.
        uri: Box<str>,
        /// Its size.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// Pages may not call this tool.
    #[error("the page at `{uri}` may not call tool `{tool}`, which is for the model only")]
    NotForApps {
        /// The URI.
        uri: Box<str>,
        /// The tool.
        tool: Box<str>,
    },
}
