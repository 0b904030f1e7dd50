//! Whether the roots of a session are being fetched.

use turnbuckle_base::lock::Mutex;

/// Whether a session's roots are being fetched.
#[derive(Debug, Default)]
pub(crate) struct RootsWatch(Mutex<Fetch>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fetch {
    #[default]
    Idle,
    Running,
    /// They changed again during the fetch.
    RunningAgain,
}

impl RootsWatch {
    /// Notes a change. Returns whether the caller has to begin a fetch. Several changes during a
    /// fetch count as one.
    pub(super) fn begin(&self) -> bool {
        let mut fetch = self.0.lock();
        let is_idle = *fetch == Fetch::Idle;
        *fetch = if is_idle {
            Fetch::Running
        } else {
            Fetch::RunningAgain
        };
        is_idle
    }

    /// Ends a fetch. Returns `true` if the roots did not change during it; otherwise the caller has
    /// to fetch them again.
    pub(super) fn end(&self) -> bool {
        let mut fetch = self.0.lock();
        let has_changed = *fetch == Fetch::RunningAgain;
        *fetch = if has_changed {
            Fetch::Running
        } else {
            Fetch::Idle
        };
        !has_changed
    }

    /// Marks that the fetch ended without a result.
    pub(super) fn give_up(&self) {
        *self.0.lock() = Fetch::Idle;
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
