//! Cache hints: how long clients may cache a result, and who may share it.

use std::time::Duration;

use turnbuckle_protocol::{CacheHint, CacheScope};

/// The kinds of results that clients may cache. See [`Server::cache_of`](crate::Server::cache_of).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cached {
    /// The result of `server/discover`.
    Discovery,
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources.
    Resources,
    /// The list of resource templates.
    Templates,
    /// The contents of resources that have no hint of their own.
    Reads,
}

/// The maximum time for which a result may be cached: a year, as in HTTP. Longer times could
/// overflow the clocks and integers of clients in other languages.
const MAX_FRESH: Duration = Duration::from_hours(365 * 24);

/// Makes a cache hint whose time is limited to [`MAX_FRESH`].
pub(crate) fn hint(fresh_for: Duration, scope: CacheScope) -> CacheHint {
    let fresh_for = fresh_for.min(MAX_FRESH);
    CacheHint::new(
        u64::try_from(fresh_for.as_millis()).unwrap_or(u64::MAX),
        scope,
    )
}

/// The cache hints of a server. By default results may not be cached, and are private.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Caching {
    all: CacheHint,
    own: [Option<CacheHint>; 6],
}

impl Caching {
    pub(crate) fn set_all(&mut self, hint: CacheHint) {
        self.all = hint;
    }

    pub(crate) fn set(&mut self, what: Cached, hint: CacheHint) {
        self.own[what as usize] = Some(hint);
    }

    pub(crate) fn of(&self, what: Cached) -> CacheHint {
        self.own[what as usize].unwrap_or(self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_hint_of_its_own_has_it_whatever_the_rest_has() {
        let mut caching = Caching::default();
        assert_eq!(caching.of(Cached::Tools), CacheHint::default());
        let (short, long) = (Duration::from_secs(1), Duration::from_mins(1));
        caching.set(Cached::Tools, hint(long, CacheScope::Public));
        caching.set_all(hint(short, CacheScope::Private));
        assert_eq!(caching.of(Cached::Tools).ttl_ms, 60_000);
        assert_eq!(caching.of(Cached::Reads).ttl_ms, 1_000);
    }

    #[test]
    fn nothing_is_fresh_for_more_than_a_year() {
        let hint = hint(Duration::MAX, CacheScope::Public);
        assert_eq!(hint.ttl_ms, 365 * 24 * 3600 * 1000);
    }
}
