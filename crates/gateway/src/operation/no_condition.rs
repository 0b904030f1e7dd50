//! The replacement for conditions without the feature `cel`.

use super::subject::{Moment, Subject};

/// The type of conditions without the feature `cel`: there are no values of it.
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
