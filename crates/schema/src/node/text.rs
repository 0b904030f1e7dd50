//! Rules for strings: `minLength`, `maxLength`, `pattern`, and `format` where it is asserted.

use std::sync::Arc;

use crate::format::{Format, Formats};
use crate::pattern::Pattern;

#[derive(Debug)]
pub(crate) struct TextRules {
    pub(crate) least: u64,
    pub(crate) most: Option<u64>,
    pub(crate) pattern: Option<Arc<Pattern>>,
    /// The format, known to us or not asserted at all.
    pub(crate) format: Option<Format>,
    pub(crate) formats: Formats,
}
