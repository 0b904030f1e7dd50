//! A revision that does not exist. It changes nothing of the newest.
//!
//! Tests run with it (feature `draft-revision`) to see that a new revision takes one file and one
//! row, and that no check is lost because some code takes "modern" to mean "the newest".

use super::{rules::Rules, v2026_07_28};

pub(super) const RULES: Rules = Rules {
    ..v2026_07_28::RULES
};
