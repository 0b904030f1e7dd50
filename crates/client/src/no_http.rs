//! Replaces HTTP in a build without it: a type without values, so that other modules need no `cfg`.

/// A connection over HTTP, which this build cannot open.
#[derive(Debug)]
pub(crate) enum Http {}

impl Http {
    pub(crate) fn url(&self) -> String {
        match *self {}
    }

    pub(crate) fn detach(&self) {
        match *self {}
    }

    pub(crate) fn uses_http_sse(&self) -> bool {
        match *self {}
    }

    pub(crate) fn has_session_stream(&self) -> bool {
        match *self {}
    }

    pub(crate) fn last_status(&self) -> u16 {
        match *self {}
    }

    pub(crate) fn is_down(&self) -> bool {
        match *self {}
    }
}
