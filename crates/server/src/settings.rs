//! The settings of a server, with their defaults and the reasons for them.

use turnbuckle_transport::Limits;

use crate::{Leniency, ask::RoundSettings, caching::Caching};

/// Entries of a list in one answer. Enough for nearly every server to answer in one page, so that
/// clients that forget to ask for the next one lose nothing; few enough for a page of large
/// schemas to stay within a few megabytes.
pub(crate) const PAGE_SIZE: usize = 1000;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) page_size: usize,
    pub(crate) leniency: Leniency,
    pub(crate) cache: Caching,
    pub(crate) limits: Limits,
    /// Whether layers send log messages.
    pub(crate) logging: bool,
    pub(crate) rounds: RoundSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            page_size: PAGE_SIZE,
            leniency: Leniency::Lenient,
            cache: Caching::default(),
            limits: Limits::default(),
            logging: false,
            rounds: RoundSettings::default(),
        }
    }
}
