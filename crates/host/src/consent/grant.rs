//! `Grant`: a permission of the user.

use turnbuckle_protocol::Tool;

use super::{ActionKind, tool_digest::digest};
use crate::id::ServerId;

/// A permission that the user gave until it is revoked, by answering with
/// [`Scope::Always`](crate::Scope::Always).
///
/// [`Host::grants`](crate::Host::grants) lists grants, and [`Host::revoke`](crate::Host::revoke)
/// revokes them. A grant does not override a policy that denies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Grant {
    /// The server, by the id that the host gave it.
    pub server: String,
    /// The kind of action that is allowed.
    pub kind: ActionKind,
    /// The tool, URI, root or host that is allowed; empty for kinds without a subject, such as
    /// `start`. See [`Action::subject`](crate::Action::subject).
    pub subject: String,
    /// A digest of the program with its arguments, or of the URL. If the config has another program
    /// or URL under the same name, the grant is not valid for it.
    pub launch: Option<String>,
    /// A digest of the tool's description, arguments and hints. If the server changes them, the
    /// grant is no longer valid. Without a digest, the grant is for the tool of this name, whatever
    /// its definition.
    pub tool: Option<String>,
    /// When it was given: a time in UTC, as RFC 3339 text.
    pub since: String,
}

impl Grant {
    /// Whether the grant allows this action.
    pub(super) fn is_for(&self, key: &GrantKey<'_>) -> bool {
        self.is_about(key) && (self.tool.is_none() || self.tool == key.digest())
    }

    /// Whether the grant is for this action, ignoring changes of the tool's definition.
    pub(super) fn is_about(&self, key: &GrantKey<'_>) -> bool {
        self.server == key.server.as_str()
            && self.kind == key.kind
            && self.subject == key.subject
            && self.launch.as_deref() == key.launch
    }
}

/// The action that a grant is looked up or made for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrantKey<'a> {
    pub(crate) server: &'a ServerId,
    pub(crate) kind: ActionKind,
    pub(crate) subject: &'a str,
    pub(crate) launch: Option<&'a str>,
    /// The tool, for a call.
    pub(crate) tool: Option<&'a Tool>,
}

impl GrantKey<'_> {
    /// The digest of the tool. Computing it costs more than all other comparisons.
    pub(super) fn digest(&self) -> Option<String> {
        self.tool.map(digest)
    }
}
