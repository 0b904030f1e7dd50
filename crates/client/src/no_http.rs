//! What stands for HTTP in a build without it: nothing, so that the rest need not ask.

/// A connection over HTTP, of which there is none.
#[derive(Debug)]
pub(crate) enum Http {}

impl Http {
    pub(crate) fn url(&self) -> String {
        match *self {}
    }

    pub(crate) fn detach(&self) {
        match *self {}
    }

    pub(crate) fn is_answered_by_events(&self) -> bool {
        match *self {}
    }

    pub(crate) fn last_status(&self) -> u16 {
        match *self {}
    }
}
