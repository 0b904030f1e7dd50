//! `Grant`: a permission of the user.

use turnbuckle_protocol::Tool;

use super::{ActionKind, tool_digest::digest};
use crate::id::ServerId;

/// A permission that the user has given until it is revoked, by answering with
/// [`Scope::Always`](crate::Scope::Always).
///
/// [`Host::grants`](crate::Host::grants) lists them, and [`Host::revoke`](crate::Host::revoke)
/// takes them back. A grant does not override a policy that denies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Grant {
    /// The server, by the id that the host gave it.
    pub server: String,
    /// The kind of action that is allowed.
    pub kind: ActionKind,
    /// For which tool, URI, root or host; empty for kinds that have no subject, such as `start`. See
    /// [`Action::subject`](crate::Action::subject).
    pub subject: String,
    /// A digest of the program with its arguments, or of the URL. When the config has something else
    /// under the same name, the grant does not count.
    pub launch: Option<String>,
    /// A digest of the tool's description, arguments and hints. If the server changes them, the
    /// grant no longer counts. Without a digest, the grant is for the tool of this name, whatever
    /// its definition.
    pub tool: Option<String>,
    /// When it was given, as a time in UTC by RFC 3339.
    pub since: String,
}

impl Grant {
    /// Whether it allows this.
    pub(super) fn is_for(&self, key: &GrantKey<'_>) -> bool {
        self.is_about(key) && (self.tool.is_none() || self.tool == key.digest())
    }

    /// Whether it allows this, or would if the tool said of itself what it said then.
    pub(super) fn is_about(&self, key: &GrantKey<'_>) -> bool {
        self.server == key.server.as_str()
            && self.kind == key.kind
            && self.subject == key.subject
            && self.launch.as_deref() == key.launch
    }
}

/// The action to be allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrantKey<'a> {
    pub(crate) server: &'a ServerId,
    pub(crate) kind: ActionKind,
    pub(crate) subject: &'a str,
    pub(crate) launch: Option<&'a str>,
    /// The tool, where one is called.
    pub(crate) tool: Option<&'a Tool>,
}

impl GrantKey<'_> {
    /// The digest of the tool. It costs more than all other comparisons.
    pub(super) fn digest(&self) -> Option<String> {
        self.tool.map(digest)
    }
}
