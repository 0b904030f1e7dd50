//! Values that an older revision cannot express.

use super::Revision;

/// A question that cannot be asked in the peer's revision. Treat it as a capability the peer lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Inexpressible {
    /// The revision cannot ask a user at all.
    #[error("elicitation does not exist in {0}; it came with 2025-06-18")]
    Elicitation(Revision),
    /// The revision cannot send a user to a URL.
    #[error("URL elicitation does not exist in {0}; it came with 2025-11-25")]
    UrlElicitation(Revision),
    /// The revision cannot let a user choose several values.
    #[error("field `{field}` takes several values, which {revision} has no form for; ask for one")]
    MultiSelect {
        /// The field of the form.
        field: String,
        /// The revision.
        revision: Revision,
    },
    /// 2025-11-25 needs a name for each visit of a URL.
    #[error("{0} needs an `elicitationId` on a URL elicitation; set one before it is sent")]
    MissingElicitationId(Revision),
}
