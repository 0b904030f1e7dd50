//! Cache hints: how long a result stays fresh, and which callers may share it.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize};

/// Which callers may use a cached copy of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CacheScope {
    /// All callers: the result does not depend on the caller.
    Public,
    /// Only callers with the same authorization as the caller who fetched the result.
    #[default]
    Private,
}

impl<'de> Deserialize<'de> for CacheScope {
    /// An unknown scope is read as private, which is always safe.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = Cow::<'de, str>::deserialize(deserializer)?;
        Ok(if word == "public" {
            Self::Public
        } else {
            Self::Private
        })
    }
}

/// A server's hint about caching a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHint {
    /// How many milliseconds the result is fresh; zero means it is stale at once.
    pub ttl_ms: u64,
    /// Whether the cached result may be shared between callers.
    pub scope: CacheScope,
}

impl CacheHint {
    /// Creates a hint: fresh for this many milliseconds, for these callers.
    pub const fn new(ttl_ms: u64, scope: CacheScope) -> Self {
        Self { ttl_ms, scope }
    }
}

/// A result with a cache hint.
pub trait Cacheable {
    /// Returns the hint; a result without one is stale at once and private.
    fn cache(&self) -> CacheHint;

    /// Sets the hint.
    fn set_cache(&mut self, hint: CacheHint);
}

/// Implements [`Cacheable`] for results with the two fields of the wire.
macro_rules! cacheable {
    ($($result:ty),+ $(,)?) => {$(
        impl $crate::Cacheable for $result {
            fn cache(&self) -> $crate::CacheHint {
                $crate::CacheHint {
                    ttl_ms: self.ttl_ms.unwrap_or_default(),
                    scope: self.cache_scope.unwrap_or_default(),
                }
            }

            fn set_cache(&mut self, hint: $crate::CacheHint) {
                self.ttl_ms = Some(hint.ttl_ms);
                self.cache_scope = Some(hint.scope);
            }
        }
    )+};
}

pub(crate) use cacheable;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_scope_is_private() {
        assert_eq!(
            serde_json::from_str::<CacheScope>("\"public\"").unwrap(),
            CacheScope::Public
        );
        assert_eq!(
            serde_json::from_str::<CacheScope>("\"tenant\"").unwrap(),
            CacheScope::Private
        );
    }

    #[test]
    fn a_result_without_a_hint_is_stale_and_private() {
        let mut result = crate::ListToolsResult::default();
        assert_eq!(
            result.cache(),
            CacheHint {
                ttl_ms: 0,
                scope: CacheScope::Private
            }
        );
        result.set_cache(CacheHint {
            ttl_ms: 5,
            scope: CacheScope::Public,
        });
        assert_eq!(result.cache().ttl_ms, 5);
    }
}
