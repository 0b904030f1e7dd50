//! What an examination looks at.

use turnbuckle::Revision;
use turnbuckle_command_line::target::{EraName, Options};

/// Whether tools are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tools {
    /// Tools that say that they only read and need no argument are called.
    Call,
    /// No tool is called.
    Leave,
}

/// What is to be looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scope {
    /// Whether 2026-07-28 is spoken.
    pub(crate) is_modern: bool,
    /// Which revision a session is asked for, if one is.
    pub(crate) legacy: Option<Revision>,
    /// Whether tools that only read are called.
    pub(crate) is_calling: bool,
}

impl Scope {
    pub(crate) fn new(options: &Options, tools: Tools) -> Self {
        let newest = Some(Revision::LATEST_LEGACY);
        let (is_modern, legacy) = match (options.revision, options.era) {
            (Some(revision), _) if revision.is_modern() => (true, None),
            (Some(revision), _) => (false, Some(revision)),
            (None, Some(EraName::Modern)) => (true, None),
            (None, Some(EraName::Legacy)) => (false, newest),
            (None, None) => (true, newest),
        };
        Self {
            is_modern,
            legacy,
            is_calling: tools == Tools::Call,
        }
    }
}
