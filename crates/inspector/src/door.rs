//! The checks of every request to the inspector.

use std::sync::Arc;

use super::{guard::Guard, inspector::Inspector};

/// The inspector behind its guard, and the origins of its two ports.
pub(super) struct Door {
    pub(super) inspector: Arc<Inspector>,
    pub(super) guard: Guard,
    /// The origin of tools' pages.
    pub(super) sandbox: String,
    /// The origin of our own.
    pub(super) origin: String,
}
