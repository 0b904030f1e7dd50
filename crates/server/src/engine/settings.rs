//! The settings of a server, with their defaults and the reasons for them.

use turnbuckle_transport::{KeepAlive, Limits};

use super::{memory_budget::MemoryBudget, rates::Rates};
use crate::subscription::ListenerLimits;

/// Entries of a list in one answer. Enough for nearly every server to answer in one page, so that
/// clients that forget to ask for the next one lose nothing; few enough for a page of large
/// schemas to stay within a few megabytes.
const PAGE_SIZE: usize = 1000;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) page_size: usize,
    pub(crate) limits: Limits,
    pub(crate) memory: MemoryBudget,
    pub(crate) rates: Rates,
    pub(crate) listeners: ListenerLimits,
    /// Whether and how clients are asked for signs of life.
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
