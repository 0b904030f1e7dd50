//! Exports the messages as a recording: one message in each line, with its time and direction.

use serde::{Deserialize, Serialize};

use super::{inspector::Inspector, raw::Raw, wire::Shown};

#[derive(Serialize)]
struct RecordedLine<'a> {
    /// Milliseconds since the first message.
    ms: f64,
    direction: &'a str,
    message: Raw,
    server: &'a str,
    exchange: Option<u64>,
}

/// Which messages to export: those of one server, as replaying requires, or all.
#[derive(Default, Deserialize)]
pub(super) struct Which {
    server: Option<String>,
}

impl Which {
    pub(super) fn has(&self, shown: &Shown) -> bool {
        self.server.as_ref().is_none_or(|one| *one == shown.server)
    }
}

impl Inspector {
    /// The stored messages as lines of JSON, with secrets redacted.
    pub(super) fn export(&self, which: &Which) -> Vec<u8> {
        let mut lines = Vec::new();
        let mut began = None;
        self.wire.each(|shown: &Shown, message, _| {
            let Some(message) = message.filter(|_| which.has(shown)) else {
                return;
            };
            let began = *began.get_or_insert(shown.time);
            let line = RecordedLine {
                ms: ((shown.time - began) * 1_000.0).round() / 1_000.0,
                direction: shown.direction,
                message: redacted(message),
                server: &shown.server,
                exchange: shown.exchange,
            };
            write(&mut lines, &line);
        });
        lines
    }
}

fn write(lines: &mut Vec<u8>, line: &impl Serialize) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(&mut *lines, line);
    lines.push(b'\n');
}

/// A message without the values of members whose names mark them as secrets.
pub(super) fn redacted(message: &[u8]) -> Raw {
    use turnbuckle_command_line::argument::Tree;

    let text = String::from_utf8_lossy(message);
    match Tree::parse(&text) {
        Ok(mut tree) => {
            redact(&mut tree);
            Raw::of_bytes(tree.to_json().as_bytes())
        }
        Err(_) => Raw::of_bytes(message),
    }
}

fn redact(tree: &mut turnbuckle_command_line::argument::Tree) {
    use turnbuckle_command_line::argument::Tree;

    match tree {
        Tree::Object(members) => {
            for (name, value) in members {
                match value {
                    Tree::Leaf(leaf) if is_secret(name) && leaf.starts_with('"') => {
                        *value = Tree::text("[redacted]");
                    }
                    value => redact(value),
                }
            }
        }
        Tree::List(items) => items.iter_mut().for_each(redact),
        Tree::Leaf(_) => {}
    }
}

pub(super) fn is_secret(name: &str) -> bool {
    // Progress tokens and page tokens are not secret.
    if matches!(name, "progressToken" | "nextPageToken") {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let words = [
        "password",
        "passwd",
        "secret",
        "token",
        "authorization",
        "api_key",
        "apikey",
        "api-key",
        "credential",
        "cookie",
        "requeststate",
    ];
    words.iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_do_not_leave_and_digits_stay() {
        let message = br#"{"params":{"apiKey":"hush","n":1.10,"deep":[{"password":"hush"}],"_meta":{"progressToken":"1"}}}"#;
        let text = redacted(message).text().to_owned();
        assert!(!text.contains("hush"), "{text}");
        assert!(
            text.contains("1.10") && text.contains(r#""progressToken":"1""#),
            "{text}"
        );
    }
}
