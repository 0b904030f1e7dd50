//! Rules for strings: `minLength`, `maxLength`, `pattern`, and `format` if formats are checked.

use std::sync::Arc;

use crate::format::{Format, Formats};
use crate::pattern::Pattern;

#[derive(Debug)]
pub(crate) struct TextRules {
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    pub(crate) pattern: Option<Arc<Pattern>>,
    /// The format, if this crate knows it.
    pub(crate) format: Option<Format>,
    pub(crate) formats: Formats,
}
