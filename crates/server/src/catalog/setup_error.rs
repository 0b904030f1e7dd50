//! Errors of building a server.

/// The reason why a server cannot be built, or why an entry cannot be added to its
/// [`Catalog`](crate::Catalog). The message names the tool, prompt or resource and says what to
/// change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// Two entries of one kind have the same name or URI. Rename or remove one.
    #[error("duplicate {kind} `{key}`; rename or remove one")]
    Duplicate {
        /// The kind of entry: tool, prompt, resource and so on.
        kind: &'static str,
        /// Its name or URI.
        key: String,
    },
    /// An entry cannot be served as it is: an invalid name, a malformed template, a schema that is
    /// not an object, or extractors that do not fit the kind of handler.
    #[error("{kind} `{key}`: {problem}")]
    Invalid {
        /// The kind of entry: tool, prompt, resource and so on.
        kind: &'static str,
        /// Its name or URI.
        key: String,
        /// The problem.
        problem: String,
    },
    /// The secret of [`Server::secret`](crate::Server::secret) is too short: it needs 16 random
    /// bytes or more.
    #[error(transparent)]
    WeakSecret(#[from] turnbuckle_session::round::seal::WeakSecret),
    /// The operating system returned no random bytes, which are needed for keys.
    #[error("could not get random bytes from the operating system: {0}")]
    NoRandomness(String),
    /// Replicas were given without a secret. They need the same secret, because a call whose
    /// questions were asked by one replica may be continued by another.
    #[error(
        "replicas need a shared secret: set the same 32 random bytes on each of them with \
         `.secret(…)`"
    )]
    ReplicasWithoutSecret,
    /// Two states of the same type were given. Wrap one of them in another type.
    #[error(
        "two states of type `{state}` were added, and handlers cannot tell them apart; wrap one in \
         its own type"
    )]
    DuplicateState {
        /// The type.
        state: &'static str,
    },
    /// A handler needs a state that was not given with [`Server::state`](crate::Server::state).
    #[error("{kind} `{key}` needs `State<{state}>`; add it with `.state(…)`")]
    MissingState {
        /// The kind of entry: tool, prompt, resource and so on.
        kind: &'static str,
        /// Its name or URI.
        key: String,
        /// The type.
        state: &'static str,
    },
}
