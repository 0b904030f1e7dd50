//! The client's description of itself.

use turnbuckle_protocol::{ClientCapabilities, Implementation};

/// The client's description of itself: its name, version and so on.
///
/// Use it for display and logs only, because it is not verified. Use [`Caller`](crate::Caller) as
/// the identity.
#[derive(Clone, Debug, Default)]
pub struct Introduction {
    /// Name and version, where the client gave them.
    pub info: Option<Implementation>,
    /// The client's capabilities.
    pub capabilities: ClientCapabilities,
}
