//! The formats of config files.

use std::path::Path;

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
            Self::Toml => toml::from_str(text).map_err(|error| error.to_string()),
            Self::Yaml => serde_saphyr::from_str(text).map_err(|error| error.to_string()),
        }
    }
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
