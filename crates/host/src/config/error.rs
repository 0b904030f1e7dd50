//! Errors in a config file, and in an entry of it.

use std::{io, path::PathBuf};

/// Why a config file cannot be used as a whole. Problems of one entry are an [`EntryError`]. Each
/// message names the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file does not exist, or may not be read.
    #[error("cannot read `{path}`")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is larger than 16 MiB, and was probably named by mistake.
    #[error("`{path}` has {bytes} bytes, and no config file is larger than {limit}")]
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
        /// Where and what, in the words of the parser.
        problem: String,
    },
    /// It is a config file, but has no section with servers.
    #[error(
        "`{path}` has no servers: none of `mcpServers`, `servers`, `mcp_servers`, `mcp`, \
         `context_servers` is there"
    )]
    NoServers {
        /// The file.
        path: PathBuf,
    },
}

/// Why one entry of a config file cannot be used. The other entries of the file are not affected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// A string or a number where an object of settings belongs.
    #[error("it is not an object of settings")]
    NotAnObject,
    /// Neither a command nor a URL, or not the one that its `type` asks for.
    #[error("it has neither a `command` nor a `url`")]
    NoCommandOrUrl,
    /// Both a command and a URL, and no `type` that chooses. Remove one of them.
    #[error("it has both a `command` and a `url`: remove one, or say `type`")]
    Both,
    /// A setting has a value of the wrong type, such as a number where a text is expected.
    #[error("`{key}` must be {expected}")]
    WrongKind {
        /// The setting.
        key: String,
        /// The expected value.
        expected: &'static str,
    },
    /// The `type` is not known. The message lists those that are.
    #[error("`type` is `{found}`; known are stdio, local, http, streamable-http, sse, remote")]
    UnknownType {
        /// The value that was found.
        found: String,
    },
    /// A command line with a quote that is not closed.
    #[error("the command line has a quote that is not closed: {line}")]
    OpenQuote {
        /// The line.
        line: String,
    },
    /// An environment variable that is not set and has no default. Set it, or write
    /// `${NAME:-default}`.
    #[error("the environment variable `{name}` is not set (`{key}` needs it)")]
    Unset {
        /// The variable.
        name: String,
        /// The setting that refers to it.
        key: String,
    },
    /// An input that the user has not given and that has no default. Implement
    /// [`Variables`](super::Variables) to ask for it.
    #[error("the input `{id}` ({description}) was not given (`{key}` needs it)")]
    InputMissing {
        /// Its id.
        id: String,
        /// What the file says that it is for, or that the file does not declare it.
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
    /// A URL that does not begin with `http://` or `https://`.
    #[error("`{url}` is not an http or https URL")]
    NotAUrl {
        /// The value that was found.
        url: String,
    },
}
