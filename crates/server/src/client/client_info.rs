//! The client's description of itself.

use turnbuckle_protocol::{ClientCapabilities, Implementation};

/// The client's description of itself: its name, version and so on.
///
/// Use it for display and logs only, because it is not verified. Use [`Caller`](crate::Caller) as
/// the identity.
#[derive(Clone, Debug, Default)]
pub struct ClientInfo {
    /// The name and version that the client gives itself, unverified. Use it for logs and
    /// statistics only.
    pub info: Option<Implementation>,
    /// The capabilities that the client declares, such as elicitation and sampling.
    /// [`Ask`](crate::Ask) checks them by itself.
    pub capabilities: ClientCapabilities,
}
