//! Why a page cannot be shown.

use turnbuckle_client::CallError;

/// Why a page cannot be shown, or a call of a page not made. The tool works without it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// The tool says something of a page that cannot be read.
    #[error("invalid `_meta.ui` of tool `{tool}`: {problem}")]
    BadLink {
        /// The tool.
        tool: Box<str>,
        /// What is wrong.
        problem: Box<str>,
    },
    /// The address is not that of a page.
    #[error("tool `{tool}` has its page at `{uri}`, which does not begin with `ui://`")]
    NotAPage {
        /// The tool.
        tool: Box<str>,
        /// The address.
        uri: Box<str>,
    },
    /// The server does not give the page.
    #[error("the page at `{uri}` cannot be read")]
    Unread {
        /// The address.
        uri: Box<str>,
        /// Why.
        #[source]
        source: CallError,
    },
    /// What is at the address is not a page.
    #[error("the resource `{uri}` is not a page: {problem}")]
    BadPage {
        /// The address.
        uri: Box<str>,
        /// What is wrong.
        problem: Box<str>,
    },
    /// The page is longer than is shown.
    #[error("the page at `{uri}` has {bytes} bytes, and at most {limit} are shown")]
    TooLarge {
        /// The address.
        uri: Box<str>,
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The page may not call the tool.
    #[error("the page at `{uri}` may not call tool `{tool}`, which is for the model alone")]
    NotForApps {
        /// The address.
        uri: Box<str>,
        /// The tool.
        tool: Box<str>,
    },
}
