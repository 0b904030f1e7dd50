//! The cached roots of a session.

use serde_json::value::RawValue;
use turnbuckle_base::lock::Mutex;

/// The answer to `roots/list`, cached until the client reports that its roots have changed.
#[derive(Debug, Default)]
pub(crate) struct RootsCache(Mutex<CachedRoots>);

#[derive(Debug, Default)]
struct CachedRoots {
    /// How often the roots have changed.
    changes: u64,
    listed: Option<Box<RawValue>>,
}

/// The moment at which the roots were requested. An answer is out of date if the roots have changed
/// since.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskedAt(u64);

impl RootsCache {
    /// The cached answer, if the roots have not changed since.
    pub(super) fn listed(&self) -> Option<Box<RawValue>> {
        self.0.lock().listed.clone()
    }

    /// Notes that the roots are requested now.
    pub(super) fn asked(&self) -> AskedAt {
        AskedAt(self.0.lock().changes)
    }

    /// Caches an answer, unless the roots have changed since they were requested.
    pub(super) fn keep(&self, asked: AskedAt, listed: &RawValue) {
        let mut state = self.0.lock();
        if state.changes == asked.0 {
            state.listed = Some(listed.to_owned());
        }
    }

    /// Drops the cached answer, because the roots have changed.
    pub(super) fn forget(&self) {
        let mut state = self.0.lock();
        state.changes += 1;
        state.listed = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_a_change_overtook_is_not_kept() {
        let roots = serde_json::value::to_raw_value(&serde_json::json!({ "roots": [] })).unwrap();
        let cache = RootsCache::default();
        let asked = cache.asked();
        cache.forget();
        cache.keep(asked, &roots);
        assert!(cache.listed().is_none());
        cache.keep(cache.asked(), &roots);
        assert!(cache.listed().is_some());
        cache.forget();
        assert!(cache.listed().is_none());
    }
}
