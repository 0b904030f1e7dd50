//! Describes why a JSON text is invalid.

/// Describes why a text could not be read, in terms of JSON.
///
/// The message of the error itself contains names of Rust types (`expected struct Tool`), and a line
/// and column in a text that users have not seen. Use this function for messages to users.
///
/// ```
/// use turnbuckle_protocol::{ListToolsResult, json_problem};
///
/// let error = serde_json::from_str::<ListToolsResult>("7").unwrap_err();
/// assert_eq!(json_problem::describe(&error), "expected an object, got integer `7`");
/// ```
pub fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    plain(text.strip_suffix(&place).unwrap_or(&text))
}

/// Removes names of Rust types from the text of an error.
pub(crate) fn plain(text: &str) -> String {
    if let Some(name) = text.strip_prefix("missing field ") {
        return format!("{name} is missing");
    }
    if text.starts_with("data did not match any variant") {
        return "the value matches none of the allowed forms".to_owned();
    }
    // The found value may be a string with any words in it; the expected type comes after it.
    let Some((found, expected)) = text.rsplit_once(", expected ") else {
        return text.to_owned();
    };
    let kinds = ["invalid type: ", "invalid value: "];
    let Some(found) = kinds.iter().find_map(|start| found.strip_prefix(start)) else {
        return text.to_owned();
    };
    let found = match found {
        "map" => "an object",
        "sequence" => "an array",
        "null" | "unit value" => "null",
        other => other,
    };
    format!("expected {}, got {found}", in_json(expected))
}

/// Returns the JSON name of an expected type.
fn in_json(expected: &str) -> &str {
    const TYPES: [(&str, &str); 8] = [
        ("struct ", "an object"),
        ("internally tagged enum ", "an object"),
        ("adjacently tagged enum ", "an object"),
        ("enum ", "a value that the specification names"),
        ("tuple struct ", "an array"),
        ("unit struct ", "null"),
        ("a map", "an object"),
        ("a sequence", "an array"),
    ];
    match expected {
        "unit" => return "null",
        "u8" | "u16" | "u32" | "u64" | "usize" => return "an integer of at least 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => return "an integer",
        "f32" | "f64" => return "a number",
        _ => {}
    }
    let known = TYPES.iter().find(|(start, _)| expected.starts_with(start));
    known.map_or(expected, |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_rust_are_not_named() {
        for (text, wanted) in [
            (
                "invalid type: string \"hello\", expected struct CallToolMembers",
                "expected an object, got string \"hello\"",
            ),
            (
                "invalid type: map, expected a sequence",
                "expected an array, got an object",
            ),
            (
                "invalid type: string \"a, expected struct B\", expected u64",
                "expected an integer of at least 0, got string \"a, expected struct B\"",
            ),
            ("missing field `name`", "`name` is missing"),
            (
                "data did not match any variant of untagged enum Id",
                "the value matches none of the allowed forms",
            ),
            ("EOF while parsing a value", "EOF while parsing a value"),
        ] {
            assert_eq!(plain(text), wanted);
        }
    }

    #[test]
    fn a_place_in_a_text_that_nobody_sees_is_left_out() {
        let error = serde_json::from_str::<Vec<u8>>("{}").expect_err("it is an object");
        assert_eq!(describe(&error), "expected an array, got an object");
    }
}
