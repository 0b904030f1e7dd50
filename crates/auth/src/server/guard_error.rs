//! `GuardError`: why a guard cannot be built.

/// The shortest secret for nonces, in bytes.
pub(super) const MIN_SECRET_BYTES: usize = 16;

/// Why a guard cannot be built: a setting is wrong. Each message names the setting. Returned by
/// [`Guard::build`](super::Guard::build).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The resource is not a URL, or has a fragment.
    #[error("the resource `{resource}` is not the URL of this server: {reason}")]
    Resource {
        /// The value that was given.
        resource: String,
        /// The problem.
        reason: String,
    },
    /// The guard has no issuer, so no token could be valid.
    #[error("the guard has no issuer; add one with `Guard::issuer`")]
    NoIssuer,
    /// An issuer cannot be used: its URL, or that of its keys or introspection, is malformed or not
    /// `https`. Plain `http` is allowed only on this machine, or with
    /// [`Issuer::allow_http`](super::Issuer::allow_http).
    #[error("the issuer `{issuer}` cannot be used: {reason}")]
    Issuer {
        /// Its URL.
        issuer: String,
        /// The reason.
        reason: String,
    },
    /// Two issuers have the same URL. Put all settings into one [`Issuer`](super::Issuer).
    #[error("duplicate issuer `{0}`; remove one")]
    SameIssuer(String),
    /// A text is not a valid scope token: scopes must not contain blanks, quotes or backslashes.
    #[error("`{0}` is not a scope: a scope has no blanks, quotes or backslashes")]
    Scope(String),
    /// Servers must not request the scope `offline_access`.
    #[error(
        "a server must not require `offline_access`, which clients request from authorization servers"
    )]
    OfflineAccess,
    /// The secret for nonces has fewer than 16 bytes.
    #[error("the secret for nonces must have at least {MIN_SECRET_BYTES} random bytes")]
    WeakSecret,
    /// The operating system returned no random bytes.
    #[error("could not get random bytes for nonces from the operating system")]
    NoRandomness,
}
