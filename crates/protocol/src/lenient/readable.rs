//! The parts of a message that can be parsed, where the whole cannot.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde_json::{Value, value::RawValue};

use crate::JsonObject;

/// How much of what cannot be parsed a warning shows.
const SHOWN_BYTES: usize = 200;

/// The members of an object, as far as they can be parsed.
#[derive(Default)]
pub(super) struct Readable {
    pub(super) members: JsonObject,
    /// What was left out: its place as a JSON pointer, the problem, and how it begins. In an array there
    /// is a `null` in its place.
    pub(super) left_out: Vec<(String, String, Value)>,
    /// Whether halves of surrogate pairs were replaced.
    pub(super) had_halves: bool,
}

/// Reads the members of an object, and the entries of its arrays, one by one; `None` if it is no object.
/// One that is nested too deeply does not lose the others.
pub(super) fn members(text: &str) -> Option<Readable> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => {
            return Some(Readable {
                members,
                ..Readable::default()
            });
        }
        Ok(_) => return None,
        Err(_) => {}
    }
    let whole = without_halves(text);
    let mut readable = Readable {
        had_halves: matches!(whole, Cow::Owned(_)),
        ..Readable::default()
    };
    let members: IndexMap<String, &RawValue> = serde_json::from_str(&whole).ok()?;
    for (name, member) in members {
        let place = format!("/{}", super::escaped(&name));
        if let Some(value) = readable.value(place, member) {
            readable.members.insert(name, value);
        }
    }
    Some(readable)
}

impl Readable {
    fn value(&mut self, place: String, member: &RawValue) -> Option<Value> {
        let error = match serde_json::from_str(member.get()) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let Ok(entries) = serde_json::from_str::<Vec<&RawValue>>(member.get()) else {
            self.leave_out(place, &error, member);
            return None;
        };
        let mut values = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            values.push(serde_json::from_str(entry.get()).unwrap_or_else(|error| {
                self.leave_out(format!("{place}/{index}"), &error, entry);
                Value::Null
            }));
        }
        Some(Value::Array(values))
    }

    fn leave_out(&mut self, place: String, error: &serde_json::Error, part: &RawValue) {
        let text = part.get();
        let shown = &text[..text.floor_char_boundary(SHOWN_BYTES)];
        let problem = format!("{error}; left out");
        self.left_out.push((place, problem, shown.into()));
    }
}

/// A JSON text in which each half of a surrogate pair that is alone is replaced by `\ufffd`. Programs that
/// cut a text at a length write such halves.
fn without_halves(text: &str) -> Cow<'_, str> {
    let mut replaced = String::new();
    let (mut rest, mut kept) = (text, 0);
    while let Some(start) = rest.find('\\') {
        let escape = &rest[start..];
        let place = text.len() - escape.len();
        let length = match surrogate(escape) {
            Some(Surrogate::High) if surrogate(&escape[6..]) == Some(Surrogate::Low) => 12,
            Some(_) => {
                replaced.push_str(&text[kept..place]);
                replaced.push_str("\\ufffd");
                kept = place + 6;
                6
            }
            // The character behind it, so that `\\` is one escape.
            None => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        rest = &escape[length..];
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    replaced.push_str(&text[kept..]);
    Cow::Owned(replaced)
}

#[derive(PartialEq)]
enum Surrogate {
    High,
    Low,
}

/// Which half of a pair an escape is, if it is one.
fn surrogate(escape: &str) -> Option<Surrogate> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Surrogate::High),
        0xdc00..=0xdfff => Some(Surrogate::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_that_are_alone_are_replaced() {
        for (text, expected) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00\ud83d!""#, r#""\ufffd\ufffd!""#),
            (r#""\\ud83d \n \u00e4""#, r#""\\ud83d \n \u00e4""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            ("\"\\", "\"\\"),
            ("\"\\ud8", "\"\\ud8"),
            ("\"\\ü", "\"\\ü"),
        ] {
            assert_eq!(without_halves(text), expected);
        }
    }
}
