//! The formats of config files.

use std::{ops::Range, path::Path};

use serde_json::Value;

/// The syntax of a config file. [`of`](Self::of) determines it from the extension of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, possibly with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

impl Format {
    /// The format of a file by its extension; JSON if the extension is unknown.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Self::Toml,
            Some("yaml" | "yml") => Self::Yaml,
            _ => Self::Json,
        }
    }

    /// The name of the format, for messages to people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "JSON",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }

    /// Parses a text. The members of objects keep their order.
    pub(super) fn parse(self, text: &str) -> Result<Value, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match self {
            // Some editors leave an empty file behind. It has no servers, and is not an error.
            _ if text.trim().is_empty() => Ok(Value::Object(serde_json::Map::new())),
            Self::Json => jsonc_parser::parse_to_serde_value(text, &lenient())
                .map_err(|error| error.to_string()),
            Self::Toml => toml::from_str(text)
                .map_err(|error: toml::de::Error| problem_at(text, error.message(), error.span())),
            Self::Yaml => serde_saphyr::from_str(text)
                .map_err(|error: serde_saphyr::Error| error.without_snippet().to_string()),
        }
    }
}

/// Describes an error at a place in the text of a TOML file, with the key of the line. The rest of the line and a value
/// of the wrong type are left out, because they may be secrets, and the problem may be written to a log.
#[doc(hidden)]
pub fn problem_at(text: &str, message: &str, place: Option<Range<usize>>) -> String {
    let message = without_value(message);
    let Some(before) = place.and_then(|place| text.get(..place.start)) else {
        return message;
    };
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|one| *one != '\n').count() + 1;
    let text = text.lines().nth(line - 1).unwrap_or_default();
    let key = text.split_once('=').map(|(key, _)| key.trim());
    let is_of_key = |one: char| one.is_alphanumeric() || "-_.".contains(one);
    let is_bare = |key: &&str| !key.is_empty() && key.chars().all(is_of_key);
    match key.filter(is_bare) {
        Some(key) => format!("{message} on line {line} column {column} (`{key}`)"),
        None => format!("{message} on line {line} column {column}"),
    }
}

/// A message of serde about a value that a key cannot have, without the value.
fn without_value(message: &str) -> String {
    let shortened = ["invalid type: ", "invalid value: "]
        .into_iter()
        .find_map(|problem| {
            // The value may contain the same words, so what was expected comes after the last of them.
            let (found, expected) = message.strip_prefix(problem)?.rsplit_once(", expected ")?;
            let kind = found.split(['"', '`']).next().unwrap_or_default();
            let expected = match expected {
                "a map" => "a table",
                "a sequence" => "an array",
                other => other,
            };
            Some(format!("{problem}{}, expected {expected}", kind.trim_end()))
        });
    shortened.unwrap_or_else(|| message.to_owned())
}

/// Accepts comments and trailing commas, which people write. Accepting the rest of JSON5 would hide
/// mistakes.
fn lenient() -> jsonc_parser::ParseOptions {
    jsonc_parser::ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        ..jsonc_parser::ParseOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::without_value;

    #[test]
    fn values_of_the_wrong_type_are_left_out() {
        for (message, shown) in [
            (
                r#"invalid type: string "sk-secret", expected a table"#,
                "invalid type: string, expected a table",
            ),
            (
                r#"invalid type: string "a \"b\", expected c", expected a map"#,
                "invalid type: string, expected a table",
            ),
            (
                "invalid type: integer `12345678`, expected a sequence",
                "invalid type: integer, expected an array",
            ),
            (
                "invalid value: string \"sk\", expected a date",
                "invalid value: string, expected a date",
            ),
            (
                "invalid type: sequence, expected a string",
                "invalid type: sequence, expected a string",
            ),
            (
                "unknown field `a`, expected `b`",
                "unknown field `a`, expected `b`",
            ),
        ] {
            assert_eq!(without_value(message), shown);
        }
    }
}
