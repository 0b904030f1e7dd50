//! What a client says of itself.

use turnbuckle_protocol::{ClientCapabilities, Implementation};

/// What the client says of itself.
///
/// For display and logs. It is not checked by anyone: [`Caller`](crate::Caller) is the identity to
/// rely on.
#[derive(Clone, Debug, Default)]
pub struct Introduction {
    /// Name and version, where the client gave them.
    pub info: Option<Implementation>,
    /// What the client can be asked for.
    pub capabilities: ClientCapabilities,
}
