//! The client's description of itself.

use turnbuckle_protocol::{ClientCapabilities, Implementation};

/// The client's description of itself: its name, its version and its capabilities. Handlers take it
/// as an extractor.
///
/// It is not verified, so use it only for display and logs. The identity of the caller is
/// [`Caller`](crate::Caller).
#[derive(Clone, Debug, Default)]
pub struct ClientInfo {
    /// The name and version that the client sent, unverified. Use it for logs and statistics only.
    /// `None` if the client sent none.
    pub info: Option<Implementation>,
    /// The capabilities that the client declares, such as elicitation and sampling.
    /// [`Ask`](crate::Ask) checks them by itself.
    pub capabilities: ClientCapabilities,
}
