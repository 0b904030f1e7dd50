//! JSON pointers into a schema document: finds the pointer of a value by its address, and measures the document.

use serde_json::Value;

use crate::error::SchemaError;
use crate::limits::{MAX_SCHEMA_DEPTH, MAX_SCHEMA_VALUES};

/// Rejects a document that is too deep or too large, before anything recurses into it.
pub(crate) fn measure(root: &Value) -> Result<(), SchemaError> {
    let mut open = vec![(root, 1)];
    let mut values = 0;
    while let Some((value, depth)) = open.pop() {
        values += 1;
        if depth > MAX_SCHEMA_DEPTH {
            return Err(SchemaError::TooDeep {
                limit: MAX_SCHEMA_DEPTH,
            });
        }
        if values > MAX_SCHEMA_VALUES {
            return Err(SchemaError::TooLarge {
                limit: MAX_SCHEMA_VALUES,
            });
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                open.extend(members.values().map(|value| (value, depth + 1)));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The pointer of `target`, a value inside the measured document `root`. It is found by a search,
/// because it is only needed if compilation fails.
pub(crate) fn locate(root: &Value, target: &Value) -> String {
    let mut path = String::new();
    search(root, target, &mut path);
    path
}

/// Appends a token to a pointer.
pub(crate) fn push(pointer: &mut String, token: &str) {
    pointer.push('/');
    for character in token.chars() {
        match character {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// A token as a position in an array: digits without a leading zero.
pub(crate) fn position(token: &str) -> Option<usize> {
    let is_plain = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| is_plain)
}

fn search(value: &Value, target: &Value, path: &mut String) -> bool {
    if std::ptr::eq(value, target) {
        return true;
    }
    let length = path.len();
    let mut step = |token: &str, inner: &Value| {
        push(path, token);
        let is_found = search(inner, target, path);
        if !is_found {
            path.truncate(length);
        }
        is_found
    };
    match value {
        Value::Array(items) => items
            .iter()
            .enumerate()
            .any(|(at, item)| step(&at.to_string(), item)),
        Value::Object(members) => members.iter().any(|(name, inner)| step(name, inner)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_located_by_position_not_by_equality() {
        let document = json!({"a/b": [true, {"~": true}], "c": true});
        assert_eq!(locate(&document, &document["a/b"][1]["~"]), "/a~1b/1/~0");
        assert_eq!(locate(&document, &document["c"]), "/c");
        assert_eq!(locate(&document, &document), "");
    }

    #[test]
    fn deep_and_large_documents_are_refused() {
        let deep = (0..200).fold(json!({}), |inner, _| json!({"not": inner}));
        assert_eq!(
            measure(&deep),
            Err(SchemaError::TooDeep {
                limit: MAX_SCHEMA_DEPTH
            })
        );
        let large = Value::from(vec![0; MAX_SCHEMA_VALUES]);
        assert_eq!(
            measure(&large),
            Err(SchemaError::TooLarge {
                limit: MAX_SCHEMA_VALUES
            })
        );
    }

    #[test]
    fn positions_are_plain_digits() {
        assert_eq!(position("10"), Some(10));
        assert_eq!(position("0"), Some(0));
        assert_eq!(position("01"), None);
        assert_eq!(position("+1"), None);
        assert_eq!(position("-"), None);
    }
}
