//! Values and lists as messages show them: on one line and shortened.

use serde_json::Value;

use crate::kind;
use crate::limits::{MAX_LISTED, MAX_SHOWN_CHARS};

/// A value as JSON, shortened.
pub(crate) fn value(value: &Value) -> String {
    shortened(&brief_json(value))
}

/// A value with its kind: `the string "five"`.
pub(crate) fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        other => {
            let kind = kind::name(other);
            let kind = kind.split_once(' ').map_or(kind, |(_, noun)| noun);
            format!("the {kind} {}", self::value(other))
        }
    }
}

/// The values of an `enum`: `one of "a", "b"`.
pub(crate) fn choices(choices: &[Value]) -> String {
    match choices {
        [] => "nothing (the list of allowed values is empty)".to_owned(),
        [only] => value(only),
        _ => format!("one of {}", listed(choices.iter().map(value))),
    }
}

/// Names in backticks, comma-separated: `` `a`, `b` ``.
pub(crate) fn names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    listed(names.map(|name| format!("`{}`", shortened(name))))
}

/// Text, cut to the length that messages repeat.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let rest = items.len().saturating_sub(MAX_LISTED);
    let mut list: Vec<String> = items.take(MAX_LISTED).collect();
    if rest > 0 {
        list.push(format!("and {rest} more"));
    }
    list.join(", ")
}

/// JSON that stops growing once it is longer than what is shown, however large the value is.
fn brief_json(value: &Value) -> String {
    let mut text = String::new();
    write_brief(value, &mut text);
    text
}

fn write_brief(value: &Value, text: &mut String) {
    // At most four bytes for each character. One more character remains, so that the cut is visible.
    if text.len() > MAX_SHOWN_CHARS * 4 {
        return;
    }
    match value {
        Value::String(string) => {
            let head: String = string.chars().take(MAX_SHOWN_CHARS + 1).collect();
            text.push_str(&Value::String(head).to_string());
        }
        Value::Array(items) => {
            text.push('[');
            for (position, item) in items.iter().take(MAX_SHOWN_CHARS).enumerate() {
                text.push_str(if position > 0 { "," } else { "" });
                write_brief(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (position, (name, inner)) in members.iter().take(MAX_SHOWN_CHARS).enumerate() {
                text.push_str(if position > 0 { "," } else { "" });
                text.push_str(&Value::String(shortened(name)).to_string());
                text.push(':');
                write_brief(inner, text);
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_shown_with_their_kind() {
        assert_eq!(found(&json!("five")), "the string \"five\"");
        assert_eq!(found(&json!(5)), "the integer 5");
        assert_eq!(found(&json!(5.5)), "the number 5.5");
        assert_eq!(
            found(&json!({"a": [1, null]})),
            r#"the object {"a":[1,null]}"#
        );
        assert_eq!(found(&Value::Null), "null");
        assert_eq!(found(&json!(true)), "true");
    }

    #[test]
    fn long_values_are_cut() {
        let long = value(&json!("é".repeat(1_000)));
        assert_eq!(long.chars().count(), MAX_SHOWN_CHARS + 1);
        assert!(long.ends_with('…'));
        let wide = value(&json!((0..100_000).collect::<Vec<_>>()));
        assert_eq!(wide.chars().count(), MAX_SHOWN_CHARS + 1);
    }

    #[test]
    fn lists_say_how_much_they_leave_out() {
        assert_eq!(choices(&[json!("a"), json!(2)]), r#"one of "a", 2"#);
        let many: Vec<Value> = (0..50).map(Value::from).collect();
        assert!(
            choices(&many).ends_with("19, and 30 more"),
            "{}",
            choices(&many)
        );
        assert_eq!(names(["a", "b"].into_iter()), "`a`, `b`");
    }
}
