//! Masks secrets in output and recordings.

use serde_json::Value;

/// The text that replaces a secret.
pub const MASK: &str = "***";

/// The shortest secret, in characters: shorter values would be found everywhere.
const MIN_SECRET: usize = 6;

/// Members whose values are secrets, in lower case and without separators.
const NAMES: [&str; 11] = [
    "authorization",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "clientsecret",
    "apikey",
    "password",
    "passwd",
    "secret",
    "credential",
    "privatekey",
];

/// Secrets with known values, in addition to those that are recognized by their names.
#[derive(Debug, Default)]
pub struct Secrets(Vec<String>);

impl Secrets {
    /// Adds a secret. Of `Bearer x`, only the last word is the secret.
    pub fn add(&mut self, value: &str) {
        // In `Bearer x`, the first word is not a secret.
        let value = value.rsplit(' ').next().unwrap_or(value);
        if value.chars().count() >= MIN_SECRET {
            self.0.push(value.to_owned());
        }
    }

    /// The message without secrets. A message that contains no secrets stays the same, byte for byte.
    pub fn mask(&self, message: &str) -> String {
        let mut text = message.to_owned();
        for secret in &self.0 {
            let written = Value::from(secret.as_str()).to_string();
            text = text.replace(&written[1..written.len() - 1], MASK);
        }
        let lower = text.to_ascii_lowercase().replace(['_', '-'], "");
        if !NAMES.iter().any(|name| lower.contains(name)) {
            return text;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(&text) else {
            return text;
        };
        if mask(&mut value) {
            value.to_string()
        } else {
            text
        }
    }
}

/// Masks the members whose names mark them as secrets. Returns whether there were any.
fn mask(value: &mut Value) -> bool {
    match value {
        Value::Object(members) => {
            let mut found = false;
            for (name, member) in members {
                if is_secret(name) && (member.is_string() || member.is_number()) {
                    *member = Value::from(MASK);
                    found = true;
                } else {
                    found |= mask(member);
                }
            }
            found
        }
        Value::Array(items) => {
            let mut found = false;
            for item in items {
                found |= mask(item);
            }
            found
        }
        _ => false,
    }
}

/// Whether a member of this name holds a secret.
pub fn is_secret(name: &str) -> bool {
    let plain: String = name
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    plain == "token" || NAMES.iter().any(|secret| plain.ends_with(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_everything_else_is_kept() {
        let mut secrets = Secrets::default();
        secrets.add("Bearer hunter2-and-more");
        secrets.add("x");
        for (message, wanted) in [
            (r#"{"n": 1.50, "x": "y"}"#, r#"{"n": 1.50, "x": "y"}"#),
            (r#"{"t":"a hunter2-and-more b"}"#, r#"{"t":"a *** b"}"#),
            (
                r#"{"params":{"api_key":"k","progressToken":"p","Password":"q"}}"#,
                r#"{"params":{"api_key":"***","progressToken":"p","Password":"***"}}"#,
            ),
            ("no json password", "no json password"),
        ] {
            assert_eq!(secrets.mask(message), wanted);
        }
    }
}
