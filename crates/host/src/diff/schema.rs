//! Compares two schemas, for callers that write or read values of them.
//!
//! If a schema of arguments accepts more than before, or a schema of results allows less, the
//! change is compatible. The opposite changes break callers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Effect, change::Of, offer::became, schema_rule};

/// On which side of a call a schema is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// The caller writes such values.
    Input,
    /// The caller reads such values.
    Output,
}

/// How deep schemas are compared. A schema may refer to itself; real schemas are otherwise not
/// nested this deep.
const MAX_DEPTH: usize = 24;

/// The two schemas that are compared, and the current position in them.
pub(super) struct Comparison<'s, 'o, 'c> {
    pub(super) position: Position,
    roots: (&'s Value, &'s Value),
    pub(super) of: &'o mut Of<'c>,
}

/// Compares two schemas.
pub(super) fn compare(position: Position, was: &Value, is: &Value, of: &mut Of<'_>) {
    let path = match position {
        Position::Input => "",
        Position::Output => "output",
    };
    let mut comparison = Comparison {
        position,
        roots: (was, is),
        of,
    };
    comparison.at(path, was, is, 0);
}

impl<'s> Comparison<'s, '_, '_> {
    fn at(&mut self, path: &str, was: &'s Value, is: &'s Value, depth: usize) {
        let (was, is) = (resolved(self.roots.0, was), resolved(self.roots.1, is));
        if depth == MAX_DEPTH || (was == is && !has_reference(was)) {
            return;
        }
        self.kinds(path, was, is);
        schema_rule::compare(self, path, was, is);
        self.properties(path, was, is, depth);
        self.others(path, was, is, depth);
        for keyword in ["items", "contains", "propertyNames"] {
            if let (Some(was), Some(is)) = (was.get(keyword), is.get(keyword)) {
                let place = if keyword == "items" { "[]" } else { keyword };
                self.at(&joined(path, place), was, is, depth + 1);
            } else if was.get(keyword).is_some() != is.get(keyword).is_some() {
                self.judge(
                    path,
                    is.get(keyword).is_some(),
                    format!("`{keyword}` changed"),
                );
            }
        }
        for keyword in ["anyOf", "oneOf"] {
            self.variants(path, keyword, was, is, depth);
        }
    }

    /// Reports a change that makes a schema narrower or wider, with its effect on this side of a call.
    pub(super) fn judge(&mut self, path: &str, is_narrower: bool, what: impl Into<String>) {
        let is_breaking = is_narrower == (self.position == Position::Input);
        let effect = if is_breaking {
            Effect::Breaking
        } else {
            Effect::Compatible
        };
        self.of.say(effect, path, what);
    }

    /// Compares the allowed types.
    fn kinds(&mut self, path: &str, was: &Value, is: &Value) {
        let (old, new) = (kinds(was), kinds(is));
        if old == new {
            return;
        }
        let covers = |one: &BTreeSet<&str>, other: &BTreeSet<&str>| {
            one.is_empty()
                || (!other.is_empty()
                    && other.iter().all(|kind| {
                        one.contains(kind) || (*kind == "integer" && one.contains("number"))
                    }))
        };
        let what = format!("its type changed {}", became(&was["type"], &is["type"]));
        match (covers(&new, &old), covers(&old, &new)) {
            (true, _) => self.judge(path, false, what),
            (false, true) => self.judge(path, true, what),
            (false, false) => self.of.say(Effect::Breaking, path, what),
        }
    }

    fn properties(&mut self, path: &str, was: &'s Value, is: &'s Value, depth: usize) {
        let empty = &Value::Null;
        let (old, new) = (was.get("properties"), is.get("properties"));
        let members = |value: Option<&'s Value>| value.and_then(Value::as_object);
        let needed = |schema: &Value, name: &str| {
            let list = schema["required"].as_array();
            list.is_some_and(|list| list.iter().any(|item| item == name))
        };
        for (name, part) in members(old).into_iter().flatten() {
            let place = joined(path, name);
            let Some(now) = new.unwrap_or(empty).get(name) else {
                self.gone(&place, needed(was, name));
                continue;
            };
            match (needed(was, name), needed(is, name)) {
                (false, true) => self.judge(&place, true, "it is now required"),
                (true, false) => self.judge(&place, false, "it is now optional"),
                _ => {}
            }
            self.at(&place, part, now, depth + 1);
        }
        for (name, _) in members(new).into_iter().flatten() {
            if old.unwrap_or(empty).get(name).is_none() {
                let is_needed = needed(is, name);
                self.added(&joined(path, name), is_needed);
            }
        }
    }

    fn gone(&mut self, place: &str, was_needed: bool) {
        match self.position {
            Position::Input => self
                .of
                .say(Effect::Breaking, place, "the argument was removed"),
            Position::Output if was_needed => {
                self.of
                    .say(Effect::Breaking, place, "the result no longer has it");
            }
            Position::Output => {
                let what = "the result no longer has it; it was optional before";
                self.of.say(Effect::Compatible, place, what);
            }
        }
    }

    fn added(&mut self, place: &str, is_needed: bool) {
        match self.position {
            Position::Input if is_needed => {
                let what = "there is a new argument, which is required";
                self.of.say(Effect::Breaking, place, what);
            }
            Position::Input => self
                .of
                .say(Effect::Compatible, place, "there is a new argument"),
            Position::Output => self
                .of
                .say(Effect::Compatible, place, "the result now has it"),
        }
    }

    /// Compares `additionalProperties`, the rule for members that are not named.
    fn others(&mut self, path: &str, was: &'s Value, is: &'s Value, depth: usize) {
        let keyword = "additionalProperties";
        let (old, new) = (was.get(keyword), is.get(keyword));
        if let (Some(Value::Object(_)), Some(Value::Object(_))) = (old, new) {
            self.at(&joined(path, "*"), &was[keyword], &is[keyword], depth + 1);
            return;
        }
        let rank = |value: Option<&Value>| match value {
            None | Some(Value::Bool(true)) => 2,
            Some(Value::Object(_)) => 1,
            _ => 0,
        };
        let (old, new) = (rank(old), rank(new));
        if old != new {
            let what = if new < old {
                "other members are no longer accepted"
            } else {
                "other members are now accepted"
            };
            // Callers do not read additional members of a result.
            match self.position {
                Position::Input => self.judge(path, new < old, what),
                Position::Output => self.of.say(Effect::Compatible, path, what),
            }
        }
    }

    /// Compares `oneOf` or `anyOf`. A variant is identified by its title, its tag or its position.
    fn variants(&mut self, path: &str, word: &str, was: &'s Value, is: &'s Value, depth: usize) {
        let (old, new) = (self.named(was, word, true), self.named(is, word, false));
        if old.is_empty() != new.is_empty() {
            let what = format!("`{word}` changed");
            self.judge(path, old.is_empty(), what);
            return;
        }
        for (name, part) in &old {
            match new.iter().find(|(other, _)| other == name) {
                Some((_, now)) => self.at(&joined(path, name), part, now, depth + 1),
                None => self.judge(path, true, format!("the variant {name} was removed")),
            }
        }
        for (name, _) in &new {
            if !old.iter().any(|(other, _)| other == name) {
                self.judge(path, false, format!("there is a new variant {name}"));
            }
        }
    }

    fn named(&self, schema: &'s Value, word: &str, is_old: bool) -> Vec<(String, &'s Value)> {
        let root = if is_old { self.roots.0 } else { self.roots.1 };
        let parts = schema[word].as_array().into_iter().flatten().enumerate();
        parts
            .map(|(place, part)| {
                let part = resolved(root, part);
                (variant_name(part, place), part)
            })
            .collect()
    }
}

fn variant_name(part: &Value, place: usize) -> String {
    if let Some(title) = part["title"].as_str() {
        return title.to_owned();
    }
    let members = part["properties"].as_object().into_iter().flatten();
    let tags = members.filter_map(|(_, member)| member.get("const"));
    if let Some(tag) = tags.chain(part.get("const")).next() {
        return tag.to_string();
    }
    match part["type"].as_str() {
        // A variant of these types usually occurs once, so its type identifies it.
        Some(kind) if kind != "object" && kind != "array" => kind.to_owned(),
        _ => format!("#{}", place + 1),
    }
}

/// Follows references, also through other references. Returns the schema itself if it is not a reference.
fn resolved<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let mut schema = schema;
    for _ in 0..MAX_DEPTH {
        let target = schema["$ref"]
            .as_str()
            .and_then(|reference| reference.strip_prefix('#'))
            .and_then(|pointer| root.pointer(pointer));
        match target {
            Some(target) => schema = target,
            None => return schema,
        }
    }
    schema
}

/// Whether a schema contains references, so that equal schemas may still refer to different definitions.
fn has_reference(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.contains_key("$ref") || members.values().any(has_reference)
        }
        Value::Array(items) => items.iter().any(has_reference),
        _ => false,
    }
}

fn kinds(schema: &Value) -> BTreeSet<&str> {
    match &schema["type"] {
        Value::String(kind) => BTreeSet::from([kind.as_str()]),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::new(),
    }
}

pub(super) fn joined(path: &str, name: &str) -> String {
    match (path, name) {
        ("", name) => name.to_owned(),
        (path, "[]") => format!("{path}[]"),
        (path, name) => format!("{path}.{name}"),
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
