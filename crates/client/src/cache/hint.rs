//! The caching hint of a result.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Number, value::RawValue};
use turnbuckle_protocol::{CacheScope, ResultType};

/// The longest time that a result is fresh, whatever the server says: a day. A process that runs for
/// longer should ask the server again now and then.
const MAX_TTL: Duration = Duration::from_hours(24);

/// How long a result is fresh, and which callers may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hint {
    pub(super) ttl: Duration,
    pub(super) scope: CacheScope,
}

impl Hint {
    /// Reads the hint of a result. Returns `None` if the result must not be cached. If the server gives
    /// no hint, the result is fresh for `default` and private.
    pub(super) fn of(result: &RawValue, default: Option<Duration>) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct HintFields {
            result_type: Option<ResultType>,
            ttl_ms: Option<Number>,
            cache_scope: Option<CacheScope>,
        }

        if default.is_none() && !result.get().contains("\"ttlMs\"") {
            return None;
        }
        let peek: HintFields = serde_json::from_str(result.get()).ok()?;
        // caching: a result that asks for input must not be cached.
        if peek.result_type.unwrap_or_default() != ResultType::Complete {
            return None;
        }
        let ttl = match peek.ttl_ms {
            Some(millis) => Duration::from_millis(whole(&millis)),
            None => default?,
        };
        let ttl = ttl.min(MAX_TTL);
        let scope = peek.cache_scope.unwrap_or_default();
        (!ttl.is_zero()).then_some(Self { ttl, scope })
    }
}

/// caching: a negative time counts as zero.
fn whole(millis: &Number) -> u64 {
    millis.as_u64().unwrap_or_else(|| {
        let millis = millis.as_f64().unwrap_or_default().max(0.0);
        u64::try_from(
            Duration::try_from_secs_f64(millis / 1000.0)
                .unwrap_or(MAX_TTL)
                .as_millis(),
        )
        .unwrap_or(u64::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(text: &str, default: Option<u64>) -> Option<(u64, CacheScope)> {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let hint = Hint::of(&raw, default.map(Duration::from_millis))?;
        Some((u64::try_from(hint.ttl.as_millis()).unwrap(), hint.scope))
    }

    // rule: K3
    // caching: absent, zero and negative times mean stale at once; the scope is private by default.
    #[test]
    fn only_what_may_be_kept_is() {
        let public = CacheScope::Public;
        let private = CacheScope::Private;
        assert_eq!(
            hint(r#"{"ttlMs":5,"cacheScope":"public"}"#, None),
            Some((5, public))
        );
        assert_eq!(hint(r#"{"ttlMs":5}"#, None), Some((5, private)));
        assert_eq!(hint(r#"{"ttlMs":5.0}"#, None), Some((5, private)));
        for none in [
            r#"{"ttlMs":0}"#,
            r#"{"ttlMs":-5}"#,
            r#"{"ttlMs":-5.5}"#,
            r#"{"tools":[]}"#,
            r#"{"ttlMs":"x"}"#,
            r#"{"resultType":"input_required","ttlMs":5}"#,
        ] {
            assert_eq!(hint(none, None), None, "{none}");
        }
        assert_eq!(hint(r#"{"tools":[]}"#, Some(7)), Some((7, private)));
        assert_eq!(hint(r#"{"ttlMs":0}"#, Some(7)), None);
        let long = hint(&format!(r#"{{"ttlMs":{}}}"#, u64::MAX), None);
        assert_eq!(long, Some((24 * 60 * 60 * 1000, private)));
        assert_eq!(hint(r#"{"ttlMs":1e300}"#, None), long);
    }
}
