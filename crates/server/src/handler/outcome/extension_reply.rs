//! The result of an extension's method.

use serde::Serialize;
use serde_json::Value;
use turnbuckle_protocol::{CacheHint, JsonObject, Lower, Meta, Revision};

use super::IntoOutcome;
use crate::{Failure, Fault};

/// The result of an extension's method, with its type.
///
/// Handlers do not use it directly: they return the result itself, or a `Result` with it.
#[derive(Clone, Copy, Debug)]
pub struct Answered<R>(pub(crate) R);

impl<R: Serialize> IntoOutcome<Answered<R>> for R {
    fn into_outcome(self) -> Result<Answered<R>, Failure> {
        Ok(Answered(self))
    }
}

impl<R: Serialize, E: Into<Failure>> IntoOutcome<Answered<R>> for Result<R, E> {
    fn into_outcome(self) -> Result<Answered<R>, Failure> {
        self.map(Answered).map_err(Into::into)
    }
}

/// The result of an extension's method, as layers see it.
#[derive(Clone, Debug)]
pub struct ExtensionReply {
    members: JsonObject,
    meta: Option<Meta>,
    caching: CacheMark,
}

/// Whether a result may carry a cache hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheMark {
    None,
    Hint,
}

/// Members of a result that have a meaning only since 2026-07-28.
const MODERN: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

impl ExtensionReply {
    pub(crate) fn of<R: Serialize>(result: &R, caching: CacheMark) -> Result<Self, Failure> {
        let value = serde_json::to_value(result).map_err(|error| {
            Fault::new(format!("the result cannot be written as JSON: {error}"))
        })?;
        let Value::Object(mut members) = value else {
            let fault = Fault::new("the result of a method must be a JSON object");
            return Err(Failure::Fault(fault));
        };
        // The `resultType` of the answer is written later, at its end.
        members.shift_remove("resultType");
        let meta = match members.shift_remove("_meta") {
            Some(Value::Object(meta)) => Some(Meta(meta)),
            _ => None,
        };
        Ok(Self {
            members,
            meta,
            caching,
        })
    }

    pub(crate) fn meta_mut(&mut self) -> &mut Option<Meta> {
        &mut self.meta
    }

    /// Sets the cache hint if the method is cacheable, unless the result has a complete hint.
    pub(crate) fn set_cache_unless_set(&mut self, hint: CacheHint) {
        if self.caching == CacheMark::None {
            return;
        }
        let has_both = ["ttlMs", "cacheScope"]
            .iter()
            .all(|name| self.members.contains_key(*name));
        if !has_both {
            self.members.insert("ttlMs".into(), hint.ttl_ms.into());
            if let Ok(scope) = serde_json::to_value(hint.scope) {
                self.members.insert("cacheScope".into(), scope);
            }
        }
    }

    /// Returns the members of the result, without `_meta`.
    pub fn members(&self) -> &JsonObject {
        &self.members
    }
}

impl Serialize for ExtensionReply {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;

        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &self.members {
            map.serialize_entry(name, value)?;
        }
        if let Some(meta) = &self.meta {
            map.serialize_entry("_meta", meta)?;
        }
        map.end()
    }
}

impl Lower for ExtensionReply {
    fn lower(&mut self, to: Revision) {
        if !to.is_modern() {
            for name in MODERN {
                self.members.shift_remove(name);
            }
        }
    }
}
