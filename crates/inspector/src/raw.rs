//! Unparsed JSON.

use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// JSON as shared text. It is written unchanged, digit by digit.
#[derive(Clone, Debug)]
pub(super) struct Raw(Arc<RawValue>);

impl Raw {
    /// Parses JSON; text that is not JSON becomes a JSON string.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        match serde_json::from_slice::<Box<RawValue>>(bytes) {
            Ok(raw) => raw.into(),
            Err(_) => Self::of(&String::from_utf8_lossy(bytes)),
        }
    }

    /// Serializes any value.
    pub(super) fn of(value: &(impl Serialize + ?Sized)) -> Self {
        serde_json::value::to_raw_value(value)
            .unwrap_or_else(|_| RawValue::NULL.to_owned())
            .into()
    }

    pub(super) fn text(&self) -> &str {
        self.0.get()
    }

    pub(super) fn to_box(&self) -> Box<RawValue> {
        (*self.0).to_owned()
    }
}

impl From<Box<RawValue>> for Raw {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw.into())
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
