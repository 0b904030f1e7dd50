//! Transcripts: messages that a client sends and answers that a server must give, as text.

use std::{fmt::Write as _, str::FromStr, time::Duration};

use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use turnbuckle_server::LiveServer;

use crate::{Line, Side};

/// How long a server may take for one line. This is far more than any test needs: it only ends a test that would hang.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The string that matches any value.
const ANYTHING: &str = "…";

/// A transcript: the messages that a client sends, and the messages that a server must answer with.
///
/// A line starts with `>` (sent by the client) or `<` (expected from the server), then JSON. Lines
/// that start with `#` are comments. In an expected message, the string `"…"` matches any value.
///
/// ```
/// use turnbuckle_server::{Server, Tool};
/// use turnbuckle_testing::Transcript;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new("greeter", "1.0.0").tool(Tool::new("greet", || async { "hello" })).build()?;
/// let transcript: Transcript = r#"
///     ## A legacy client may ping before anything else.
///     > {"jsonrpc":"2.0","id":1,"method":"ping"}
///     < {"jsonrpc":"2.0","id":1,"result":{}}
/// "#
/// .parse()?;
/// transcript.check(&server).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript(Vec<Line>);

/// Text that is not a transcript.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {number} of the transcript: {problem}")]
pub struct TranscriptError {
    /// The line, counted from one.
    pub number: usize,
    /// The problem with this line.
    pub problem: String,
}

/// A server's message that differs from the transcript.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("after {after} lines the server said\n  {said}\ninstead of\n  {expected}{}", .at.as_ref().map(|at| format!("\nthey differ at {at}")).unwrap_or_default())]
pub struct Mismatch {
    /// How many lines of the transcript had passed.
    pub after: usize,
    /// The message that the server sent; empty if it sent none.
    pub said: String,
    /// The message that was expected.
    pub expected: String,
    /// The JSON pointer of the first difference.
    pub at: Option<String>,
}

impl FromStr for Transcript {
    type Err = TranscriptError;

    fn from_str(text: &str) -> Result<Self, TranscriptError> {
        let mut lines = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let refuse = |problem: String| TranscriptError {
                number: index + 1,
                problem,
            };
            let from = match line.chars().next() {
                Some('>') => Side::Client,
                Some('<') => Side::Server,
                _ => return Err(refuse("it must start with `>`, `<` or `#`".into())),
            };
            let message = serde_json::from_str(line[1..].trim())
                .map_err(|error| refuse(error.to_string()))?;
            lines.push(Line { from, message });
        }
        Ok(Self(lines))
    }
}

impl Transcript {
    /// Sends the client's messages over one connection, and compares the server's messages with the transcript.
    ///
    /// # Errors
    /// [`Mismatch`]: the first message that differs from the transcript.
    pub async fn check(&self, server: &LiveServer) -> Result<(), Mismatch> {
        let connection = server.connect();
        let mut writer = connection.writer;
        let mut reader = BufReader::new(connection.reader);
        for (after, line) in self.0.iter().enumerate() {
            let text = line.message.to_string();
            if line.from == Side::Client {
                let _ = writer.write_all(format!("{text}\n").as_bytes()).await;
                continue;
            }
            let mut said = String::new();
            let _ = tokio::time::timeout(ANSWER_WITHIN, reader.read_line(&mut said)).await;
            let heard: Value = serde_json::from_str(&said).unwrap_or(Value::Null);
            let mut at = String::new();
            if said.is_empty() || !agrees(&line.message, &heard, &mut at) {
                let said = said.trim_end().to_owned();
                let at = (!said.is_empty()).then_some(at);
                return Err(Mismatch {
                    after,
                    said,
                    expected: text,
                    at,
                });
            }
        }
        self.then_silence(writer, reader).await
    }

    /// Checks that the server sends nothing more: a message beyond the transcript is a mistake too.
    async fn then_silence(
        &self,
        mut writer: impl AsyncWrite + Unpin,
        mut reader: impl AsyncBufRead + Unpin,
    ) -> Result<(), Mismatch> {
        let _ = writer.shutdown().await;
        let mut said = String::new();
        let _ = tokio::time::timeout(ANSWER_WITHIN, reader.read_line(&mut said)).await;
        if said.is_empty() {
            return Ok(());
        }
        let said = said.trim_end().to_owned();
        Err(Mismatch {
            after: self.0.len(),
            said,
            expected: "nothing more".into(),
            at: None,
        })
    }
}

/// Whether `heard` matches what was expected. If not, `at` points to the first difference.
fn agrees(expected: &Value, heard: &Value, at: &mut String) -> bool {
    match (expected, heard) {
        (Value::String(text), _) if text == ANYTHING => true,
        (Value::Object(expected), Value::Object(heard)) => {
            let names = expected
                .keys()
                .chain(heard.keys().filter(|name| !expected.contains_key(*name)));
            names.into_iter().all(|name| {
                let length = at.len();
                // Writing to a String cannot fail.
                let _ = write!(at, "/{name}");
                let same = match (expected.get(name), heard.get(name)) {
                    (Some(expected), Some(heard)) => agrees(expected, heard, at),
                    _ => false,
                };
                if same {
                    at.truncate(length);
                }
                same
            })
        }
        (Value::Array(expected), Value::Array(heard)) if expected.len() == heard.len() => expected
            .iter()
            .zip(heard)
            .enumerate()
            .all(|(index, (expected, heard))| {
                let length = at.len();
                let _ = write!(at, "/{index}");
                let same = agrees(expected, heard, at);
                if same {
                    at.truncate(length);
                }
                same
            }),
        (expected, heard) => expected == heard,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn difference(expected: &Value, heard: &Value) -> Option<String> {
        let mut at = String::new();
        (!agrees(expected, heard, &mut at)).then_some(at)
    }

    #[test]
    fn a_difference_is_pointed_to() {
        assert_eq!(
            difference(&json!({"a": [1, {"b": 2}]}), &json!({"a": [1, {"b": 3}]})),
            Some("/a/1/b".into())
        );
        assert_eq!(
            difference(&json!({"a": 1}), &json!({"a": 1, "b": 2})),
            Some("/b".into())
        );
        assert_eq!(
            difference(&json!({"a": 1, "b": 2}), &json!({"a": 1})),
            Some("/b".into())
        );
        assert_eq!(difference(&json!([1]), &json!([1, 2])), Some(String::new()));
        assert_eq!(
            difference(&json!({"a": "…", "b": 2}), &json!({"b": 2, "a": [1]})),
            None
        );
    }

    #[tokio::test]
    async fn what_a_server_says_beyond_its_part_is_a_mismatch() {
        let server = turnbuckle_server::Server::new("s", "1").build().unwrap();
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let pong = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        let whole: Transcript = format!("> {ping}\n< {pong}").parse().unwrap();
        assert_eq!(whole.check(&server).await, Ok(()));
        let short: Transcript = format!("> {ping}\n> {ping}\n< {pong}").parse().unwrap();
        assert_eq!(
            short.check(&server).await.unwrap_err().expected,
            "nothing more"
        );
    }

    #[test]
    fn a_malformed_line_is_named() {
        let error = "> {}\nwhat".parse::<Transcript>().unwrap_err();
        assert_eq!(error.number, 2);
        assert!("> {".parse::<Transcript>().is_err());
    }
}
