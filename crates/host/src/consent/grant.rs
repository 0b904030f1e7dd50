//! One thing that the person has allowed.

use super::ActionKind;
use crate::id::ServerId;

/// Something that the person has allowed until it is revoked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Grant {
    /// The server, by the id that the host gave it.
    pub server: String,
    /// What is allowed.
    pub kind: ActionKind,
    /// For which tool, URI or root; empty for all of the kind.
    pub subject: String,
    /// A digest of the program with its arguments, or of the URL. When the config has something else
    /// under the same name, the grant does not count.
    pub launch: Option<String>,
    /// When it was given, as a time in UTC.
    pub since: String,
}

impl Grant {
    pub(super) fn is_for(&self, key: &GrantKey<'_>) -> bool {
        self.kind == key.kind && self.subject == key.subject && self.launch.as_deref() == key.launch
    }
}

/// What is to be allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrantKey<'a> {
    pub(crate) server: &'a ServerId,
    pub(crate) kind: ActionKind,
    pub(crate) subject: &'a str,
    pub(crate) launch: Option<&'a str>,
}
