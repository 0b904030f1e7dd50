//! The parts of a server that are examined.

use turnbuckle::Revision;
use turnbuckle_command_line::target::{EraName, Options};

/// Whether tools are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Calls tools that declare that they only read and that need no argument.
    Call,
    /// Calls no tools.
    Leave,
}

/// What to examine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// The modern revision to examine, if any.
    pub(crate) modern: Option<Revision>,
    /// The legacy revision to request for a session, if any.
    pub(crate) legacy: Option<Revision>,
    /// Whether tools that only read are called.
    pub(crate) is_calling: bool,
}

impl Scope {
    pub(crate) fn new(options: &Options, tools: Tools) -> Self {
        let (newest, newest_legacy) = (Some(Revision::LATEST), Some(Revision::LATEST_LEGACY));
        let (modern, legacy) = match (options.revision, options.era) {
            (Some(revision), _) if revision.is_modern() => (Some(revision), None),
            (Some(revision), _) => (None, Some(revision)),
            (None, Some(EraName::Modern)) => (newest, None),
            (None, Some(EraName::Legacy)) => (None, newest_legacy),
            (None, None) => (newest, newest_legacy),
        };
        Self {
            modern,
            legacy,
            is_calling: tools == Tools::Call,
        }
    }
}
