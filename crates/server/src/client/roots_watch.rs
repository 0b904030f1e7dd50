//! Whether the roots of a session are being fetched.

use turnbuckle_base::lock::Mutex;

/// Whether a session's roots are being fetched.
#[derive(Debug, Default)]
pub(crate) struct RootsWatch(Mutex<Look>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Look {
    #[default]
    Idle,
    Looking,
    /// They changed again during the fetch.
    LookingAgain,
}

impl RootsWatch {
    /// Notes a change. Returns whether the caller has to begin a fetch. Several changes during a
    /// fetch count as one.
    pub(super) fn begin(&self) -> bool {
        let mut look = self.0.lock();
        let is_idle = *look == Look::Idle;
        *look = if is_idle {
            Look::Looking
        } else {
            Look::LookingAgain
        };
        is_idle
    }

    /// Ends a fetch. Returns `true` if the roots did not change during it; otherwise the caller has
    /// to fetch them again.
    pub(super) fn end(&self) -> bool {
        let mut look = self.0.lock();
        let has_changed = *look == Look::LookingAgain;
        *look = if has_changed {
            Look::Looking
        } else {
            Look::Idle
        };
        !has_changed
    }

    /// Marks that the fetch ended without a result.
    pub(super) fn give_up(&self) {
        *self.0.lock() = Look::Idle;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_during_a_fetch_count_as_one() {
        let watch = RootsWatch::default();
        assert!(watch.begin());
        assert!(!watch.begin() && !watch.begin());
        assert!(!watch.end(), "they are fetched once more");
        assert!(watch.end());
        assert!(watch.begin(), "the next change begins a new fetch");
        watch.give_up();
        assert!(watch.begin());
    }
}
