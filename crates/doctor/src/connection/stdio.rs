//! A connection to a program, through its stdin and stdout.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    time::{timeout, timeout_at},
};
use turnbuckle::{
    client::Direction,
    transport::{Child, ChildReader, ChildWriter, Command, Ended, SpawnError},
};
use turnbuckle_command_line::wire::Wire;

use super::{
    Answer, Exchange, MAX_MESSAGE,
    answers::{Messages, answer, everything},
};

/// How many stray lines are kept: the first ones show what they are.
const MAX_STRAY: usize = 16;

/// How long a program that closed its stdout may take to exit, so that its exit status can be reported.
const EXIT_WAIT: Duration = Duration::from_millis(500);

/// How many of its last lines on stderr are shown.
const LAST_WORDS: usize = 8;

/// How much later than the end of stdout the last lines of stderr may arrive.
const WORDS_WAIT: Duration = Duration::from_millis(50);

/// A running program.
pub(crate) struct StdioTransport {
    child: Child,
    reader: BufReader<ChildReader>,
    writer: ChildWriter,
    /// The start of an incomplete line.
    line: Vec<u8>,
    /// Lines on stdout that are not messages.
    pub(crate) stray: Vec<Stray>,
    /// Why it can no longer be talked to, if so.
    gone: Option<String>,
    /// The method of the last request.
    pub(crate) last: String,
    /// Whether any request was answered.
    pub(crate) has_answered: bool,
    pub(crate) started: Instant,
    wire: Wire,
}

/// Output on stdout that is not a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stray {
    Text(String),
    /// A header, as in the protocol of language servers.
    Framing(String),
    /// A part of JSON that is written over several lines.
    Piece(String),
    /// Bytes that are not UTF-8, or a byte order mark.
    Encoding(String),
    TooLong,
}

impl StdioTransport {
    pub(crate) fn start(command: &Command, wire: Wire) -> Result<Self, SpawnError> {
        let started = Instant::now();
        let (child, pipes) = command.spawn()?;
        Ok(Self {
            child,
            reader: BufReader::new(pipes.reader),
            writer: pipes.writer,
            line: Vec::new(),
            stray: Vec::new(),
            gone: None,
            last: String::new(),
            has_answered: false,
            wire,
            started,
        })
    }

    /// Its last lines on stderr, as evidence.
    pub(crate) async fn last_words(&self) -> Vec<String> {
        if self.is_gone() {
            tokio::time::sleep(WORDS_WAIT).await;
        }
        let words = self.child.stderr().tail(LAST_WORDS);
        words
            .lines()
            .map(|line| format!("stderr: {line}"))
            .collect()
    }

    /// How it ended, if it ended by itself.
    pub(crate) fn how_gone(&self) -> Option<&str> {
        self.gone.as_deref()
    }

    /// Whether it has ended by itself.
    pub(crate) fn is_gone(&self) -> bool {
        self.gone.is_some()
    }

    pub(crate) async fn exchange(&mut self, message: Value, limit: Duration) -> Exchange {
        let began = Instant::now();
        if self.gone.is_none() {
            message["method"]
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut self.last);
        }
        let written = self.write(&message, limit).await;
        if !matches!(written.answer, Answer::Nothing) {
            return written;
        }
        let id = message.get("id").cloned();
        let mut heard = Vec::new();
        let answer = answer(self, id.as_ref(), began + limit, &mut heard).await;
        self.has_answered |= matches!(answer, Answer::Message(_));
        Exchange {
            sent: message,
            answer,
            heard,
            head: None,
            took: began.elapsed(),
        }
    }

    /// Writes a message and does not wait for an answer.
    pub(crate) async fn write(&mut self, message: &Value, limit: Duration) -> Exchange {
        let answer = self.write_text(&format!("{message}\n"), limit).await;
        Exchange {
            sent: message.clone(),
            answer,
            heard: Vec::new(),
            head: None,
            took: Duration::ZERO,
        }
    }

    /// Writes text unchanged.
    pub(crate) async fn write_text(&mut self, text: &str, limit: Duration) -> Answer {
        self.wire.pass(Direction::Out, text.trim_end().as_bytes());
        let written = timeout(limit, self.writer.write_all(text.as_bytes())).await;
        match written {
            Ok(Ok(())) => Answer::Nothing,
            Ok(Err(error)) => Answer::Gone(self.ended(&error.to_string()).await),
            Err(_) => Answer::Gone("it does not read its stdin".to_owned()),
        }
    }

    /// The next message, of any kind.
    pub(crate) async fn first(&mut self, until: Instant) -> Answer {
        match timeout_at(until.into(), self.next()).await {
            Ok(Ok(message)) => Answer::Message(message),
            Ok(Err(gone)) => Answer::Gone(gone),
            Err(_) => Answer::Silence,
        }
    }

    /// All messages that arrive within a time.
    pub(crate) async fn listen(&mut self, time: Duration) -> Vec<Value> {
        everything(self, Instant::now() + time).await
    }

    fn keep(&mut self, stray: Stray) {
        if self.stray.len() < MAX_STRAY {
            self.stray.push(stray);
        }
    }

    /// How it ended, with its exit status if that arrives soon.
    async fn ended(&mut self, otherwise: &str) -> String {
        let status = timeout(EXIT_WAIT, self.child.exited()).await;
        let how = match status {
            Ok(Some(status)) => format!("the process ended ({status})"),
            Ok(None) => "the process ended".to_owned(),
            Err(_) => otherwise.to_owned(),
        };
        self.gone.get_or_insert(how).clone()
    }

    /// Closes its input and waits for its end.
    pub(crate) async fn finish(self, grace: Duration) -> Ended {
        let Self {
            child,
            mut reader,
            writer,
            ..
        } = self;
        drop(writer);
        let mut ended = std::pin::pin!(child.shutdown(grace));
        let mut nowhere = tokio::io::sink();
        // Its remaining output must be read, so that it can end.
        tokio::select! {
            ended = &mut ended => return ended,
            _ = tokio::io::copy(&mut reader, &mut nowhere) => {}
        }
        ended.await
    }
}

impl Messages for StdioTransport {
    /// The next line that is a message.
    async fn next(&mut self) -> Result<Value, String> {
        loop {
            let limit = u64::try_from(MAX_MESSAGE).unwrap_or(u64::MAX);
            // If this future is dropped, the bytes that were read remain in `line`.
            let mut limited = (&mut self.reader).take(limit);
            match limited.read_until(b'\n', &mut self.line).await {
                Ok(0) => return Err(self.ended("its stdout was closed").await),
                Ok(_) => {}
                Err(error) => return Err(self.ended(&error.to_string()).await),
            }
            let is_whole = self.line.last() == Some(&b'\n');
            if !is_whole && self.line.len() < MAX_MESSAGE {
                continue;
            }
            let line = std::mem::take(&mut self.line);
            if !is_whole {
                self.keep(Stray::TooLong);
                return Err("a line of its stdout does not end".to_owned());
            }
            self.wire.pass(Direction::In, line.trim_ascii());
            match read(&line) {
                Ok(Some(message)) => return Ok(message),
                Ok(None) => {}
                Err(stray) => self.keep(stray),
            }
        }
    }

    async fn reply(&mut self, answer: &Value, _: Instant) {
        let line = format!("{answer}\n");
        // If it cannot be written, the next read fails too.
        let _ = self.writer.write_all(line.as_bytes()).await;
    }
}

/// Parses a line: a message, an empty line, or output that is not a message.
fn read(line: &[u8]) -> Result<Option<Value>, Stray> {
    let shown = || String::from_utf8_lossy(line).trim_end().to_owned();
    let Ok(text) = std::str::from_utf8(line) else {
        return Err(Stray::Encoding(shown()));
    };
    if text.starts_with('\u{feff}') {
        return Err(Stray::Encoding(shown()));
    }
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let lower = text.to_ascii_lowercase();
    // The body of one message is followed by the header of the next.
    if lower.contains("content-length:") && !lower.ends_with('}') {
        return Err(Stray::Framing(shown()));
    }
    match serde_json::from_str::<Value>(text) {
        Ok(message) if message.get("jsonrpc").is_some() => Ok(Some(message)),
        Ok(message) if message.get("method").is_some() || message.get("id").is_some() => {
            Ok(Some(message))
        }
        _ if is_piece(text) => Err(Stray::Piece(shown())),
        _ => Err(Stray::Text(shown())),
    }
}

/// Whether a line looks like a part of indented JSON.
fn is_piece(text: &str) -> bool {
    matches!(text, "{" | "}" | "}," | "[" | "]" | "],")
        || (text.starts_with('"') && text.contains("\":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let message = br#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        assert!(matches!(read(message), Ok(Some(_))));
        assert_eq!(read(b"\r\n"), Ok(None));
        assert_eq!(read(b"ready\n"), Err(Stray::Text("ready".to_owned())));
        assert!(matches!(
            read(b"Content-Length: 12\r\n"),
            Err(Stray::Framing(_))
        ));
        assert!(matches!(read(b"{\n"), Err(Stray::Piece(_))));
        assert!(matches!(
            read(b"  \"jsonrpc\": \"2.0\",\n"),
            Err(Stray::Piece(_))
        ));
        assert!(matches!(read(b"caf\xe9\n"), Err(Stray::Encoding(_))));
        assert!(matches!(
            read("\u{feff}{}".as_bytes()),
            Err(Stray::Encoding(_))
        ));
        assert!(matches!(read(b"{\"level\":\"info\"}"), Err(Stray::Text(_))));
    }
}
