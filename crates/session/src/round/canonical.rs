//! A digest of the meaning of JSON. The order of members, spacing, escapes, and `1.0` for `1` do not
//! affect it, so a client or a proxy that serialises values again does not change it.

use serde::Serialize;
use serde_json::{Number, Value};
#[cfg(feature = "seal")]
use sha2::{Digest as _, Sha256};

#[cfg(not(feature = "seal"))]
use super::no_digest::Sha256;
use super::node::Node;

/// The length of a digest.
pub(super) const DIGEST_BYTES: usize = 32;

/// Marks a length that is written in the eight bytes after it. Most lengths are a single byte, because
/// most hashed texts are short.
const LONG: u8 = u8::MAX;

/// The initial capacity for a form with a few fields.
const WRITTEN_BYTES: usize = 512;

/// From this magnitude on, a float cannot represent all integers.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Hashes a sequence of texts and values. Each is preceded by its kind and length, so that different
/// sequences never give the same bytes.
pub(super) struct Hasher(Sha256);

impl Hasher {
    /// Starts a digest; `domain` separates digests for different purposes.
    pub(super) fn new(domain: &str) -> Self {
        let mut hasher = Self(Sha256::new());
        hasher.text(domain);
        hasher
    }

    pub(super) fn text(&mut self, text: &str) {
        self.tagged(b's', text.as_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.tagged(b'b', bytes);
    }

    /// Adds a missing value, which differs from every value.
    pub(super) fn absent(&mut self) {
        self.0.update(b"-");
    }

    /// Adds a value from its JSON text.
    pub(super) fn raw(&mut self, text: &str) {
        match serde_json::from_str::<Node<'_>>(text) {
            Ok(node) => self.node(node),
            // Nested deeper than the parser allows: hash the text itself.
            Err(_) => self.tagged(b'r', text.as_bytes()),
        }
    }

    fn node(&mut self, node: Node<'_>) {
        match node {
            Node::Null => self.0.update(b"n"),
            Node::Bool(true) => self.0.update(b"t"),
            Node::Bool(false) => self.0.update(b"f"),
            Node::Number(number) => self.number(&number),
            Node::Text(text) => self.text(&text),
            Node::Array(items) => {
                self.head(b'a', items.len());
                for item in items {
                    self.node(item);
                }
            }
            Node::Object(members) => {
                self.head(b'o', members.len());
                for (name, member) in members {
                    self.text(&name);
                    self.node(member);
                }
            }
        }
    }

    /// Adds a value of our own, which is always serialised in the same way.
    pub(super) fn written<T: Serialize>(&mut self, value: &T) {
        let mut text = Vec::with_capacity(WRITTEN_BYTES);
        match serde_json::to_writer(&mut text, value) {
            Ok(()) => self.tagged(b'w', &text),
            // A value that cannot be serialised cannot be sent either, so its digest does not matter.
            Err(_) => self.absent(),
        }
    }

    pub(super) fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.0.update(b"n"),
            Value::Bool(true) => self.0.update(b"t"),
            Value::Bool(false) => self.0.update(b"f"),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                self.head(b'a', items.len());
                for item in items {
                    self.value(item);
                }
            }
            Value::Object(members) => {
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_unstable_by_key(|(name, _)| *name);
                self.head(b'o', sorted.len());
                for (name, member) in sorted {
                    self.text(name);
                    self.value(member);
                }
            }
        }
    }

    #[cfg_attr(
        not(feature = "seal"),
        expect(
            clippy::useless_conversion,
            reason = "the digest without sealing is an array already"
        )
    )]
    pub(super) fn finish(self) -> [u8; DIGEST_BYTES] {
        self.0.finalize().into()
    }

    fn number(&mut self, number: &Number) {
        let whole = number.as_i128().or_else(|| {
            let float = number
                .as_f64()
                .filter(|float| float.fract() == 0.0 && float.abs() < EXACT)?;
            #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
            Some(float as i128)
        });
        match whole {
            Some(whole) => self.tagged(b'i', &whole.to_be_bytes()),
            None => self.tagged(b'd', number.to_string().as_bytes()),
        }
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.head(tag, bytes.len());
        self.0.update(bytes);
    }

    fn head(&mut self, tag: u8, length: usize) {
        match u8::try_from(length) {
            Ok(length) if length != LONG => self.0.update([tag, length]),
            _ => {
                self.0.update([tag, LONG]);
                self.0.update((length as u64).to_be_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(text: &str) -> [u8; DIGEST_BYTES] {
        let mut hasher = Hasher::new("test");
        hasher.raw(text);
        hasher.finish()
    }

    #[test]
    fn a_text_has_the_digest_of_its_value() {
        for text in [
            r#"{"b":[1,-2,3.5,1e300,18446744073709551615],"a":{"z":null,"y":[true,false,{}]}}"#,
            r#"{"a":1,"b":0,"a":2,"\u0061":"three \" times"}"#,
            "\"plain\"",
            "[]",
        ] {
            let mut hasher = Hasher::new("test");
            hasher.value(&serde_json::from_str(text).unwrap());
            assert_eq!(digest(text), hasher.finish(), "{text}");
        }
    }

    #[test]
    fn writing_the_same_value_differently_changes_nothing() {
        for (left, right) in [
            (r#"{"a":1,"b":[2,{}]}"#, r#"{ "b" : [ 2, { } ], "a" : 1 }"#),
            (r#""A\/\u00e9""#, "\"A/é\""),
            ("1.0", "1"),
            ("-3e2", "-300"),
            (r#"{"a":1,"b":0,"a":2}"#, r#"{"b":0,"a":2}"#),
            ("0.50", "5e-1"),
        ] {
            assert_eq!(digest(left), digest(right), "{left} {right}");
        }
    }

    #[test]
    fn different_values_differ() {
        let texts = [
            "null",
            "true",
            "false",
            "0",
            "1",
            "-1",
            "0.5",
            "1e300",
            "18446744073709551615",
            "\"\"",
            "\"1\"",
            "[]",
            "[[]]",
            "[1]",
            "[1,2]",
            "[2,1]",
            "[12]",
            "{}",
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1,"b":2}"#,
            r#"{"a":2,"b":1}"#,
            r#"{"a":{"b":2}}"#,
        ];
        for (index, left) in texts.iter().enumerate() {
            for right in &texts[index + 1..] {
                assert_ne!(digest(left), digest(right), "{left} {right}");
            }
        }
    }

    #[test]
    fn a_value_too_deep_to_parse_is_told_by_its_text() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(digest(&deep("1")), digest(&deep("1")));
        assert_ne!(digest(&deep("1")), digest(&deep("2")));
    }
}
