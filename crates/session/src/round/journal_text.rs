//! The journal as JSON: short names, and a version.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

use super::{Fingerprint, Journal, journal::Ask};

/// The version of the text. Any other version is refused: the call then starts over.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Written<'a> {
    v: u32,
    #[serde(skip_serializing_if = "WrittenAsks::is_empty")]
    a: WrittenAsks<'a>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    m: &'a BTreeMap<String, Box<RawValue>>,
}

struct WrittenAsks<'a>(&'a BTreeMap<String, Ask>);

impl WrittenAsks<'_> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for WrittenAsks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, ask)| {
            let written = WrittenAsk {
                q: ask.question,
                a: ask.answer.as_deref(),
            };
            (key, written)
        }))
    }
}

#[derive(Serialize)]
struct WrittenAsk<'a> {
    q: Fingerprint,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Read {
    v: u32,
    #[serde(default)]
    a: BTreeMap<String, ReadAsk>,
    #[serde(default)]
    m: BTreeMap<String, Box<RawValue>>,
}

#[derive(Deserialize)]
struct ReadAsk {
    q: Fingerprint,
    #[serde(default, deserialize_with = "present")]
    a: Option<Box<RawValue>>,
}

/// Distinguishes an answer `null` from a missing answer.
fn present<'de, D>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error>
where
    D: Deserializer<'de>,
{
    Box::deserialize(deserializer).map(Some)
}

impl Serialize for Journal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written {
            v: VERSION,
            a: WrittenAsks(&self.asks),
            m: &self.memos,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Journal {
    /// Applies the same limits when reading as when writing.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Read { v, a, m } = Read::deserialize(deserializer)?;
        if v != VERSION {
            return Err(de::Error::custom(format_args!(
                "journal of version {v}; only {VERSION} can be read here"
            )));
        }
        let mut journal = Self::new();
        for (key, ReadAsk { q, a }) in a {
            journal.asked(&key, q).map_err(de::Error::custom)?;
            if let Some(answer) = a {
                journal
                    .record_answer(&key, answer)
                    .map_err(de::Error::custom)?;
            }
        }
        for (key, memo) in m {
            journal.keep(&key, memo).map_err(de::Error::custom)?;
        }
        Ok(journal)
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::{InputRequest, RequestParams};

    use super::*;
    use crate::round::MAX_JOURNAL_ENTRIES;

    #[test]
    fn everything_survives_byte_by_byte() {
        let roots = Fingerprint::of(&InputRequest::ListRoots(RequestParams::default()));
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        let mut journal = Journal::new();
        for key in ["open", "null", "\u{0}\"\\é"] {
            journal.asked(key, roots).unwrap();
        }
        journal.record_answer("null", raw("null")).unwrap();
        journal
            .record_answer("\u{0}\"\\é", raw(r#"{ "b": 1.10, "a": 1e400 }"#))
            .unwrap();
        journal.keep("memo", raw("0.30000000000000004")).unwrap();

        let text = serde_json::to_string(&journal).unwrap();
        assert!(
            text.len() <= journal.bytes(),
            "{} {}",
            text.len(),
            journal.bytes()
        );
        let again: Journal = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        assert_eq!(again.bytes(), journal.bytes());
        assert!(again.answer("open").is_none());
        assert_eq!(again.answer("null").unwrap().get(), "null");
        assert_eq!(again.memo("memo").unwrap().get(), "0.30000000000000004");
    }

    #[test]
    fn another_version_is_refused() {
        assert!(
            serde_json::from_str::<Journal>(r#"{"v":1}"#)
                .unwrap()
                .is_empty()
        );
        let refused = serde_json::from_str::<Journal>(r#"{"v":2}"#).unwrap_err();
        assert!(refused.to_string().contains("version 2"), "{refused}");
        assert!(serde_json::from_str::<Journal>("{}").is_err());
    }

    #[test]
    fn limits_hold_for_what_is_read() {
        let memos: BTreeMap<_, _> = (0..=MAX_JOURNAL_ENTRIES)
            .map(|n| (n.to_string(), n))
            .collect();
        let text = serde_json::json!({"v": 1, "m": memos}).to_string();
        assert!(serde_json::from_str::<Journal>(&text).is_err());
    }
}
