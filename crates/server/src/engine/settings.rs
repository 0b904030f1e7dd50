//! The settings of a server, with their defaults and the reasons for them.

use turnbuckle_transport::{KeepAlive, Limits};

use super::{memory_budget::MemoryBudget, rates::Rates};
use crate::subscription::ListenerLimits;

/// The default number of entries in a page. It is large enough that nearly every list has one page,
/// so that clients that do not fetch the next page miss nothing. It is small enough that a page of
/// large schemas has only a few megabytes.
const PAGE_SIZE: usize = 1000;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) page_size: usize,
    pub(crate) limits: Limits,
    pub(crate) memory: MemoryBudget,
    pub(crate) rates: Rates,
    pub(crate) listeners: ListenerLimits,
    /// Whether clients are pinged, and how.
    pub(crate) keep_alive: Option<KeepAlive>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            page_size: PAGE_SIZE,
            limits: Limits::default(),
            memory: MemoryBudget::default(),
            rates: Rates::default(),
            listeners: ListenerLimits::default(),
            keep_alive: None,
        }
    }
}
