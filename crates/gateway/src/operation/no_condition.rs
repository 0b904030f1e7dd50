//! Replaces conditions if the feature `cel` is off.

use super::subject::{Moment, Subject};

/// The type of conditions if the feature `cel` is off. It has no values.
#[derive(Clone, Debug)]
pub(super) enum Condition {}

impl Condition {
    pub(super) fn source(&self) -> &str {
        match *self {}
    }

    pub(super) fn is_for(&self, _: Moment) -> bool {
        match *self {}
    }

    pub(super) fn holds(&self, _: &Subject<'_>) -> Result<bool, String> {
        match *self {}
    }
}
