//! Errors of building a server.

/// Why a server cannot be built. The message names the tool, prompt or resource and says what to
/// change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// Two things of one kind have the same name or URI.
    #[error("duplicate {kind} `{key}`; rename or remove one")]
    Duplicate {
        /// The kind of entry: tool, prompt, resource and so on.
        kind: &'static str,
        /// Its name or URI.
        key: String,
    },
    /// Something cannot be served as it is.
    #[error("{kind} `{key}`: {problem}")]
    Invalid {
        /// The kind of entry: tool, prompt, resource and so on.
        kind: &'static str,
        /// Its name or URI.
        key: String,
        /// The problem.
        problem: String,
    },
    /// The secret is too short to be one.
    #[error(transparent)]
    WeakSecret(#[from] turnbuckle_session::round::seal::WeakSecret),
    /// The operating system gave no random bytes for keys.
    #[error("could not get random bytes from the operating system: {0}")]
    NoRandomness(String),
    /// Replicas need a secret in common.
    #[error(
        "replicas need one secret in common: give all of them the same with `.secret(…)`, of 32 random bytes"
    )]
    ReplicasWithoutSecret,
    /// Two states of one type were given.
    #[error(
        "two states of type `{state}` were given: handlers could not tell them apart; wrap one in a type of its own"
    )]
    DuplicateState {
        /// The type.
        state: &'static str,
    },
    /// A handler needs a state that was not given.
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
