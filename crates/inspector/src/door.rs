//! The checks of every request to the inspector.

use std::sync::Arc;

use super::{guard::Guard, inspector::Inspector};

/// The inspector, its guard, and the origins of its two ports.
pub(super) struct Door {
    pub(super) inspector: Arc<Inspector>,
    pub(super) guard: Guard,
    /// The origin of the pages of tools.
    pub(super) sandbox: String,
    /// The origin of the inspector's own page.
    pub(super) origin: String,
}
