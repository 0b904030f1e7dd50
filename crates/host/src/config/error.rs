//! Errors in a config file, and in an entry of it.

use std::{io, path::PathBuf};

/// Why a config file as a whole cannot be used. Problems of a single entry are reported as
/// [`EntryError`]. Each message names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file does not exist or cannot be read.
    #[error("cannot read `{path}`")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is larger than 16 MiB. It was probably named by mistake.
    #[error("`{path}` has {bytes} bytes; the limit for a config file is {limit}")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
        /// The largest size that is read, in bytes.
        limit: u64,
    },
    /// The file is not valid in the format of its extension.
    #[error("`{path}` is not valid {format}: {problem}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// JSON, TOML or YAML.
        format: &'static str,
        /// The position and the problem, as the parser reports them.
        problem: String,
    },
    /// It is a config file, but has no section with servers.
    #[error(
        "`{path}` has no servers: it needs one of `mcpServers`, `servers`, `mcp_servers`, `mcp`, \
         `context_servers`"
    )]
    NoServers {
        /// The file.
        path: PathBuf,
    },
}

/// Why an entry of a config file cannot be used. The other entries of the file are not affected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The entry is a string or a number instead of an object.
    #[error("it is not an object of settings")]
    NotAnObject,
    /// The entry's name, the key under which it is written, is empty.
    #[error("its name is empty: give it a name")]
    Unnamed,
    /// The entry has neither a command nor a URL, or lacks the one that its `type` requires.
    #[error("it has neither a `command` nor a `url`")]
    NoCommandOrUrl,
    /// The entry has both a command and a URL, and no `type` to choose between them. Remove one of them.
    #[error("it has both a `command` and a `url`: remove one, or say `type`")]
    Both,
    /// A setting has a value of the wrong type, such as a number instead of a string.
    #[error("`{key}` must be {expected}")]
    WrongKind {
        /// The setting.
        key: String,
        /// The expected value.
        expected: &'static str,
    },
    /// The `type` is unknown. The message lists the known types.
    #[error("`type` is `{found}`; known are stdio, local, http, streamable-http, sse, remote")]
    UnknownType {
        /// The value that was found.
        found: String,
    },
    /// A command line with a quote that is not closed.
    #[error("the command line has a quote that is not closed: {line}")]
    OpenQuote {
        /// The line as it is written, with variables that are not expanded.
        line: String,
    },
    /// An environment variable is not set and has no default. Set it, or write `${NAME:-default}`.
    #[error("the environment variable `{name}` is not set (`{key}` needs it)")]
    Unset {
        /// The variable.
        name: String,
        /// The setting that refers to it.
        key: String,
    },
    /// The user has not given a value for an input without a default. Implement
    /// [`Variables`](super::Variables) to ask the user.
    #[error("the input `{id}` ({description}) was not given (`{key}` needs it)")]
    InputMissing {
        /// Its id.
        id: String,
        /// The description of the input in the file, or a note that the file does not declare it.
        description: String,
        /// The setting that refers to it.
        key: String,
    },
    /// A `${…}` that is not closed.
    #[error("`{key}` has a `${{` without its `}}`")]
    Unclosed {
        /// The setting.
        key: String,
    },
    /// A URL with a user name or a password, which clients do not send. Use a header instead.
    #[error(
        "the URL in `{key}` has a user name or a password: leave it out, and give it in `headers` \
         (or in `credentials` of turnbuckle.toml)"
    )]
    UserInUrl {
        /// The setting.
        key: String,
    },
    /// A URL that does not begin with `http://` or `https://`.
    #[error("`{url}` is not an http or https URL")]
    NotAUrl {
        /// The value as it is written, with variables that are not expanded.
        url: String,
    },
}
