//! Parses the valid parts of a message that cannot be parsed as a whole.

use std::{borrow::Cow, collections::BTreeMap};

use indexmap::IndexMap;
use serde_json::{Value, value::RawValue};

use super::{KEPT, MAX_WARNINGS};
use crate::{JsonObject, json_problem};

/// Members that are sent back to the server and must not be altered.
const RETURNED: [&str; 2] = ["requestState", "taskId"];

/// How many bytes of an unparsable part a warning shows.
const SHOWN_BYTES: usize = 200;

/// The members of an object that can be parsed.
#[derive(Default)]
pub(super) struct Readable {
    pub(super) members: JsonObject,
    /// The parts that were left out: the position as a JSON pointer, the problem, and the first bytes.
    /// The number is limited like that of warnings.
    pub(super) left_out: Vec<(String, String, Value)>,
    /// How many more parts were left out.
    pub(super) more: usize,
    /// The entries of arrays that were left out, in order, by the name of their array. Each was
    /// replaced by `null`.
    pub(super) unparsed: BTreeMap<String, Vec<usize>>,
    /// Whether halves of surrogate pairs were replaced.
    pub(super) had_halves: bool,
}

/// Parses the members of an object, and the entries of its arrays, one by one, so that one with too
/// deep nesting does not affect the others. Returns `None` if the text is not a JSON object, or if a
/// member cannot be parsed that changes the meaning of the object.
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
        let value = readable.value(&name, member);
        if value.is_none() && KEPT.contains(&&*name) {
            return None;
        }
        if let Some(value) = value {
            readable.members.insert(name, value);
        }
    }
    (!readable.is_returned_altered()).then_some(readable)
}

impl Readable {
    /// Whether surrogates were replaced in a member that is sent back to the server.
    fn is_returned_altered(&self) -> bool {
        let is_altered = |name: &&str| {
            let text = self.members.get(*name).and_then(Value::as_str);
            text.is_some_and(|text| text.contains('\u{fffd}'))
        };
        self.had_halves && RETURNED.iter().any(is_altered)
    }

    fn value(&mut self, name: &str, member: &RawValue) -> Option<Value> {
        let error = match serde_json::from_str(member.get()) {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        let Ok(entries) = serde_json::from_str::<Vec<&RawValue>>(member.get()) else {
            self.leave_out(|| place_of(name), &error, member);
            return None;
        };
        let mut unparsed = Vec::new();
        let mut values = Vec::with_capacity(entries.len());
        for (index, entry) in entries.into_iter().enumerate() {
            values.push(serde_json::from_str(entry.get()).unwrap_or_else(|error| {
                let place = || format!("{}/{index}", place_of(name));
                self.leave_out(place, &error, entry);
                unparsed.push(index);
                Value::Null
            }));
        }
        self.unparsed.insert(name.to_owned(), unparsed);
        Some(Value::Array(values))
    }

    fn leave_out(
        &mut self,
        place: impl FnOnce() -> String,
        error: &serde_json::Error,
        part: &RawValue,
    ) {
        if self.left_out.len() == MAX_WARNINGS {
            self.more += 1;
            return;
        }
        let text = part.get();
        let shown = &text[..text.floor_char_boundary(SHOWN_BYTES)];
        let problem = format!("{}; left out", json_problem::describe(error));
        self.left_out.push((place(), problem, shown.into()));
    }
}

/// Returns the position of a member, as a JSON pointer.
fn place_of(name: &str) -> String {
    format!("/{}", super::escaped(name))
}

/// Replaces each lone surrogate of a JSON text by `\ufffd`. Programs that cut a text at a fixed length
/// write such surrogates.
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
            // Includes the character after the backslash, so that `\\` is one escape.
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

/// Returns which surrogate an escape is, if it is one.
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
