//! Values that an older revision cannot express.

use super::Revision;

/// A question that the peer's revision cannot express. Treat it as a missing capability of the peer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Inexpressible {
    /// The revision has no elicitation.
    #[error("elicitation does not exist in {0}; it came with 2025-06-18")]
    Elicitation(Revision),
    /// The revision has no elicitation in URL mode.
    #[error("URL elicitation does not exist in {0}; it came with 2025-11-25")]
    UrlElicitation(Revision),
    /// The revision has no choice of several values.
    #[error(
        "field `{field}` takes several values, which {revision} does not support; ask for one value"
    )]
    MultiSelect {
        /// The field of the form.
        field: String,
        /// The revision.
        revision: Revision,
    },
    /// 2025-11-25 requires an id for each visit to a URL.
    #[error("{0} needs an `elicitationId` on a URL elicitation; set one before it is sent")]
    MissingElicitationId(Revision),
}
