//! Checks single values. A failed check panics with the position.

use serde_json::{Map, Value};

/// The members of an object, which must have all of the first names and may have those of the second.
#[track_caller]
pub(super) fn object<'v>(
    value: &'v Value,
    place: &str,
    required: &[&str],
    optional: &[&str],
) -> &'v Map<String, Value> {
    let members = value.as_object();
    let members = members.unwrap_or_else(|| panic!("{place}: not an object: {value}"));
    for name in required {
        assert!(
            members.contains_key(*name),
            "{place}: no `{name}` in {value}"
        );
    }
    for name in members.keys() {
        let is_known = required.contains(&name.as_str()) || optional.contains(&name.as_str());
        assert!(is_known, "{place}: unknown member `{name}` in {value}");
    }
    members
}

#[track_caller]
pub(super) fn array<'v>(value: &'v Value, place: &str) -> &'v [Value] {
    let items = value.as_array();
    items.unwrap_or_else(|| panic!("{place}: not an array: {value}"))
}

#[track_caller]
pub(super) fn text<'v>(value: &'v Value, place: &str) -> &'v str {
    let text = value.as_str();
    text.unwrap_or_else(|| panic!("{place}: not a string: {value}"))
}

#[track_caller]
pub(super) fn one_of(value: &Value, place: &str, words: &[&str]) {
    let word = text(value, place);
    assert!(
        words.contains(&word),
        "{place}: `{word}` is not one of {words:?}"
    );
}

#[track_caller]
pub(super) fn number(value: Option<&Value>, place: &str, from: f64, to: f64) {
    if let Some(value) = value {
        let number = value.as_f64().unwrap_or(f64::NAN);
        assert!(
            (from..=to).contains(&number),
            "{place}: {value} is not within {from} and {to}"
        );
    }
}

#[track_caller]
pub(super) fn name(value: &Value, place: &str, max: usize, extra: &str) {
    let name = text(value, place);
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c) || extra.contains(c);
    let is_name = !name.is_empty() && name.len() <= max && name.chars().all(fits);
    assert!(is_name, "{place}: `{name}` is not a name");
}

/// Checks that a value is a data URL of one of these media types.
#[track_caller]
pub(super) fn data_url(value: &Value, place: &str, kinds: &[&str]) {
    let url = text(value, place);
    let is_one = kinds
        .iter()
        .any(|kind| url.starts_with(&format!("data:{kind};base64,")));
    assert!(is_one, "{place}: {url}");
}
