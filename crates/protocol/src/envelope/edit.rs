//! Sets, removes or renames members of an object, and keeps all other bytes.
//!
//! A relay passes on data that it does not understand: unknown members, the notation of numbers, the
//! order of members, white space, and duplicates of members that are not changed. So it edits the text
//! and never serialises a value again.

use std::{borrow::Cow, error::Error, fmt, ops::Range};

use super::{
    Raw, RawText,
    scan::{NotJson, Scanner},
    write_string,
};

/// Changes to single members of a JSON object.
///
/// A path consists of the names of members from the outside in: `&["_meta", "progressToken"]`. If a
/// name occurs more than once, the first member is changed and the others are removed, so that all
/// readers see the same value.
///
/// ```
/// use turnbuckle_protocol::envelope::{Edit, Raw};
///
/// let params: &serde_json::value::RawValue =
///     serde_json::from_str(r#"{"name":"a", "n":1.0e2, "_meta":{"progressToken":"x"}}"#)?;
/// let edited = Edit::new(params.into())
///     .set(&["name"], r#""b""#)
///     .set(&["_meta", "progressToken"], "7")
///     .finish()?;
/// assert_eq!(edited.raw().get(), r#"{"name":"b", "n":1.0e2, "_meta":{"progressToken":7}}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "an edit does nothing until it is finished"]
pub struct Edit<'a> {
    object: Raw<'a>,
    changes: Vec<Change<'a>>,
}

#[derive(Clone, Debug)]
struct Change<'a> {
    path: Vec<&'a str>,
    action: Action<'a>,
}

#[derive(Clone, Debug)]
enum Action<'a> {
    Set(Cow<'a, str>),
    Drop,
    Rename(&'a str),
}

/// A value in the path of a member is not an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NotAnObject {
    /// The name of the member that should be an object; empty for the value as a whole.
    pub member: String,
}

impl fmt::Display for NotAnObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.member.as_str() {
            "" => f.write_str("the value must be an object"),
            member => write!(f, "`{member}` must be an object"),
        }
    }
}

impl Error for NotAnObject {}

impl<'a> Edit<'a> {
    /// Creates an edit without changes.
    pub fn new(object: Raw<'a>) -> Self {
        Self {
            object,
            changes: Vec::new(),
        }
    }

    /// Sets a member to a JSON value. A missing member is added at the end, with the missing objects of
    /// its path.
    pub fn set(self, path: &[&'a str], value: impl Into<Cow<'a, str>>) -> Self {
        self.with(path, Action::Set(value.into()))
    }

    /// Sets a member to a string.
    pub fn set_text(self, path: &[&'a str], text: &str) -> Self {
        let mut json = Vec::new();
        write_string(&mut json, text);
        let json = String::from_utf8(json).unwrap_or_default();
        self.set(path, json)
    }

    /// Removes a member, if it exists.
    pub fn drop(self, path: &[&'a str]) -> Self {
        self.with(path, Action::Drop)
    }

    /// Renames a member, if it exists.
    pub fn rename(self, path: &[&'a str], name: &'a str) -> Self {
        self.with(path, Action::Rename(name))
    }

    fn with(mut self, path: &[&'a str], action: Action<'a>) -> Self {
        if !path.is_empty() {
            let path = path.to_vec();
            self.changes.push(Change { path, action });
        }
        self
    }

    /// Returns whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the object with the changes.
    ///
    /// # Errors
    /// Fails if the value is not an object, or if a path leads through a value that is not an object.
    pub fn finish(self) -> Result<RawText, NotAnObject> {
        let changes: Vec<&Change<'_>> = self.changes.iter().collect();
        let mut out = String::with_capacity(self.object.get().len() + 128);
        apply(self.object.get(), "", &changes, 0, &mut out)?;
        Ok(RawText::found(out))
    }
}

/// The position of a member in the text of its object.
struct Place<'a> {
    name: Cow<'a, str>,
    /// Includes the quotes.
    name_at: Range<usize>,
    value_at: Range<usize>,
}

fn places(text: &str) -> Result<Vec<Place<'_>>, NotJson> {
    let mut scanner = Scanner::new(text);
    let mut places = Vec::new();
    scanner.named_members(|scanner, name, name_at| {
        scanner.peek();
        let start = scanner.position();
        scanner.value()?;
        places.push(Place {
            name,
            name_at,
            value_at: start..scanner.position(),
        });
        Ok(())
    })?;
    Ok(places)
}

/// Appends the object with the changes whose paths lead to it.
fn apply(
    text: &str,
    named: &str,
    changes: &[&Change<'_>],
    depth: usize,
    out: &mut String,
) -> Result<(), NotAnObject> {
    let places = places(text).map_err(|_| NotAnObject {
        member: named.to_owned(),
    })?;
    let head = places.first().map_or(1, |first| first.name_at.start);
    out.push_str(&text[..head]);
    let mut done: Vec<&str> = Vec::new();
    let mut is_first = true;
    let mut end = head;
    for place in &places {
        let separator = &text[end..place.name_at.start];
        end = place.value_at.end;
        let here: Vec<&Change<'_>> = changes
            .iter()
            .filter(|change| change.path[depth] == place.name)
            .copied()
            .collect();
        let Some(first) = here.first() else {
            put(out, separator, &mut is_first);
            out.push_str(&text[place.name_at.start..place.value_at.end]);
            continue;
        };
        let name = first.path[depth];
        if done.contains(&name) {
            continue;
        }
        done.push(name);
        let mut member = String::new();
        if edited(text, place, &here, depth, &mut member)? {
            put(out, separator, &mut is_first);
            out.push_str(&member);
        }
    }
    append(changes, &done, depth, &mut is_first, out);
    let tail = if places.is_empty() { 1 } else { end };
    out.push_str(&text[tail..]);
    Ok(())
}

/// Appends the separator between two members.
fn put(out: &mut String, separator: &str, is_first: &mut bool) {
    if std::mem::take(is_first) {
        return;
    }
    // The first member was removed, so the next one has no comma of its own.
    out.push_str(if separator.is_empty() { "," } else { separator });
}

/// Appends a changed member. Returns false if it was removed.
fn edited(
    text: &str,
    place: &Place<'_>,
    here: &[&Change<'_>],
    depth: usize,
    out: &mut String,
) -> Result<bool, NotAnObject> {
    let is_last = |change: &&&Change<'_>| change.path.len() == depth + 1;
    let mut name: Cow<'_, str> = Cow::Borrowed(&text[place.name_at.clone()]);
    let mut value: Cow<'_, str> = Cow::Borrowed(&text[place.value_at.clone()]);
    for change in here.iter().filter(is_last) {
        match &change.action {
            Action::Drop => return Ok(false),
            Action::Rename(new) => name = Cow::Owned(quoted(new)),
            Action::Set(new) => value = Cow::Borrowed(new),
        }
    }
    let inner: Vec<&Change<'_>> = here
        .iter()
        .filter(|change| change.path.len() > depth + 1)
        .copied()
        .collect();
    let is_object = value.trim_start().starts_with('{');
    let sets = |change: &&Change<'_>| matches!(change.action, Action::Set(_));
    out.push_str(&name);
    out.push_str(&text[place.name_at.end..place.value_at.start]);
    if inner.is_empty() || (!is_object && !inner.iter().any(sets)) {
        out.push_str(&value);
    } else {
        apply(&value, &place.name, &inner, depth + 1, out)?;
    }
    Ok(true)
}

/// Appends new members.
fn append(
    changes: &[&Change<'_>],
    done: &[&str],
    depth: usize,
    is_first: &mut bool,
    out: &mut String,
) {
    let mut added: Vec<&str> = Vec::new();
    for change in changes {
        let name = change.path[depth];
        let is_set = matches!(change.action, Action::Set(_));
        if !is_set || done.contains(&name) || added.contains(&name) {
            continue;
        }
        added.push(name);
        put(out, ",", is_first);
        out.push_str(&quoted(name));
        out.push(':');
        let same: Vec<&Change<'_>> = changes
            .iter()
            .filter(|other| other.path[depth] == name)
            .copied()
            .collect();
        let whole = same.iter().rev().find_map(|other| match &other.action {
            Action::Set(value) if other.path.len() == depth + 1 => Some(value),
            _ => None,
        });
        if let Some(value) = whole {
            out.push_str(value);
        } else {
            out.push('{');
            append(&same, &[], depth + 1, &mut true, out);
            out.push('}');
        }
    }
}

fn quoted(name: &str) -> String {
    let mut json = Vec::new();
    write_string(&mut json, name);
    String::from_utf8(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn raw(text: &str) -> Raw<'_> {
        Raw::from(serde_json::from_str::<&RawValue>(text).expect("JSON"))
    }

    fn edited<'a>(text: &'a str, edit: impl FnOnce(Edit<'a>) -> Edit<'a>) -> String {
        let text = edit(Edit::new(raw(text))).finish().expect("an object");
        text.raw().get().to_owned()
    }

    #[test]
    fn a_member_is_set_where_it_is_or_at_the_end() {
        let text = r#"{ "a" : 1.0e2 , "b":2}"#;
        assert_eq!(
            edited(text, |it| it.set(&["a"], "3")),
            r#"{ "a" : 3 , "b":2}"#
        );
        assert_eq!(
            edited(text, |it| it.set(&["c"], "3")),
            r#"{ "a" : 1.0e2 , "b":2,"c":3}"#
        );
        assert_eq!(
            edited("{}", |it| it.set_text(&["c"], "x\"")),
            r#"{"c":"x\""}"#
        );
        assert_eq!(edited("{ }", |it| it.set(&["c"], "1")), r#"{"c":1 }"#);
    }

    #[test]
    fn a_member_is_dropped_with_one_comma() {
        let text = r#"{ "a":1 , "b":2, "c":3 }"#;
        assert_eq!(edited(text, |it| it.drop(&["a"])), r#"{ "b":2, "c":3 }"#);
        assert_eq!(edited(text, |it| it.drop(&["b"])), r#"{ "a":1, "c":3 }"#);
        assert_eq!(edited(text, |it| it.drop(&["c"])), r#"{ "a":1 , "b":2 }"#);
        let none = edited(text, |it| it.drop(&["a"]).drop(&["b"]).drop(&["c"]));
        assert_eq!(none, "{  }");
        let swapped = edited(text, |it| {
            it.drop(&["a"]).drop(&["b"]).drop(&["c"]).set(&["d"], "4")
        });
        assert_eq!(swapped, r#"{ "d":4 }"#);
    }

    #[test]
    fn nested_members_are_edited_in_place_and_made_where_they_are_missing() {
        let text = r#"{"_meta": {"x":[1, 2],"io.m/level":"a"}}"#;
        assert_eq!(
            edited(text, |it| it
                .drop(&["_meta", "io.m/level"])
                .set(&["_meta", "t"], "7")),
            r#"{"_meta": {"x":[1, 2],"t":7}}"#
        );
        assert_eq!(
            edited("{}", |it| it
                .set(&["a", "b", "c"], "1")
                .set(&["a", "d"], "2")),
            r#"{"a":{"b":{"c":1},"d":2}}"#
        );
        assert_eq!(
            edited(r#"{"_meta":7}"#, |it| it.drop(&["_meta", "x"])),
            r#"{"_meta":7}"#
        );
        let edit = Edit::new(raw(r#"{"_meta":7}"#)).set(&["_meta", "x"], "1");
        assert_eq!(edit.finish().unwrap_err().member, "_meta");
        assert!(Edit::new(raw("[1]")).set(&["a"], "1").finish().is_err());
    }

    #[test]
    fn a_member_gets_another_name() {
        assert_eq!(
            edited(r#"{"ttl" :1,"x":{"ttl":2}}"#, |it| it
                .rename(&["ttl"], "ttlMs")),
            r#"{"ttlMs" :1,"x":{"ttl":2}}"#
        );
    }

    #[test]
    fn escaped_names_are_the_same_names_and_duplicates_are_changed_once() {
        assert_eq!(
            edited(r#"{"\u0061":1,"b":2}"#, |it| it.set(&["a"], "3")),
            r#"{"\u0061":3,"b":2}"#
        );
        assert_eq!(
            edited(r#"{"a":1,"b":2,"a":3}"#, |it| it.set(&["a"], "4")),
            r#"{"a":4,"b":2}"#
        );
        assert_eq!(
            edited(r#"{"a":1,"b":2,"a":3}"#, |it| it.drop(&["a"])),
            r#"{"b":2}"#
        );
        assert_eq!(
            edited(r#"{"a":1,"b":2,"a":3}"#, |it| it.set(&["b"], "4")),
            r#"{"a":1,"b":4,"a":3}"#
        );
    }

    /// The text of a value in one of many notations.
    fn value() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(
            &[
                "1",
                "1.0",
                "-0",
                "1e400",
                "12345678901234567890123",
                "\"x\"",
                "\"\\u00e9\\/\"",
                "null",
                "true",
                "[]",
                "{}",
                "[ 1 ,2.50]",
                "\"}{,:\\\"\"",
            ][..],
        )
        .prop_map(str::to_owned);
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop::collection::vec((name(), inner, space()), 0..4)
                .prop_map(|members| object(&members))
        })
    }

    fn name() -> impl Strategy<Value = String> {
        prop::sample::select(&["a", "b", "c", "_meta", "x y", "é", "io.m/k"][..])
            .prop_map(str::to_owned)
    }

    fn space() -> impl Strategy<Value = String> {
        prop::sample::select(&["", " ", "\n\t"][..]).prop_map(str::to_owned)
    }

    fn object(members: &[(String, String, String)]) -> String {
        let each: Vec<String> = members
            .iter()
            .map(|(name, value, space)| format!("{space}{}{space}:{value}{space}", quoted(name)))
            .collect();
        format!("{{{}}}", each.join(","))
    }

    fn untouched<'a>(raw: Raw<'a>, name: &str) -> Vec<(Cow<'a, str>, &'a str)> {
        let others = raw.members().into_iter().filter(|(other, _)| other != name);
        others.map(|(name, value)| (name, value.get())).collect()
    }

    proptest! {
        #[test]
        fn nothing_else_changes(
            members in prop::collection::vec((name(), value(), space()), 0..6),
            target in name(),
        ) {
            let text = object(&members);
            let before = untouched(raw(&text), &target);
            let same = edited(&text, |it| it);
            prop_assert_eq!(&same, &text);
            let dropped = edited(&text, |it| it.drop(&["none such"]));
            prop_assert_eq!(&dropped, &text);
            for result in [
                edited(&text, |it| it.set(&[target.as_str()], "\"new\"")),
                edited(&text, |it| it.drop(&[target.as_str()])),
            ] {
                prop_assert_eq!(untouched(raw(&result), &target), before.clone(), "{}", result);
            }
            let set = edited(&text, |it| it.set(&[target.as_str()], "\"new\""));
            prop_assert_eq!(raw(&set).member(&target).map(Raw::get), Some("\"new\""));
            let gone = edited(&text, |it| it.drop(&[target.as_str()]));
            prop_assert!(raw(&gone).member(&target).is_none());
        }

        #[test]
        fn nothing_else_changes_one_level_down(
            members in prop::collection::vec((name(), value(), space()), 0..5),
            inner in prop::collection::vec((name(), value(), space()), 0..5),
            target in name(),
        ) {
            let inner = object(&inner);
            let mut all: Vec<_> = members.into_iter().filter(|(name, ..)| name != "_meta").collect();
            all.push(("_meta".to_owned(), inner.clone(), String::new()));
            let text = object(&all);
            let before = untouched(raw(&inner), &target);
            let set = edited(&text, |it| it.set(&["_meta", target.as_str()], "8"));
            prop_assert_eq!(untouched(raw(&text), "_meta"), untouched(raw(&set), "_meta"));
            let meta = raw(&set).member("_meta").expect("still there");
            prop_assert_eq!(untouched(meta, &target), before);
            prop_assert_eq!(meta.member(&target).map(Raw::get), Some("8"));
        }
    }
}
