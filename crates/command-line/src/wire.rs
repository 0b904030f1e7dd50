//! The messages of a connection: shows them with `--wire`, records them, and keeps the last results unchanged.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use serde::Serialize;
use serde_json::{Value, json, value::RawValue};
use turnbuckle::{
    Client,
    client::{Direction, WireMessage},
    protocol::{
        ErrorObject,
        envelope::{Frame, Id, IdRef, Message, Raw, parse},
    },
};
use turnbuckle_base::lock::Mutex;

use crate::{
    control::for_stderr,
    failure::{Code, Failed, Outcome},
    private,
    secret::Secrets,
};

/// The messages that are sent and received. Clones share them.
#[derive(Clone)]
pub struct Wire(Arc<Seen>);

struct Seen {
    started: Instant,
    is_shown: bool,
    secrets: Secrets,
    file: Option<Recorder>,
    kept: Mutex<Kept>,
}

/// Requests without an answer, and the newest result of each method.
#[derive(Default)]
struct Kept {
    waiting: Vec<(Id, String)>,
    results: Vec<(String, Box<RawValue>)>,
    /// The newest errors in answers to requests.
    errors: Vec<Box<RawValue>>,
}

/// How many requests are remembered until their results arrive; a command makes few.
const MAX_WAITING: usize = 64;

/// How many errors are remembered; a command sends few requests after the one that it fails with.
const MAX_ERRORS: usize = 16;

/// The file of a recording, which only its owner may read. Clones write to the same file.
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Recorded>);

#[derive(Debug)]
struct Recorded {
    path: PathBuf,
    file: Mutex<File>,
    /// The error of the first line that could not be written.
    lost: Mutex<Option<io::Error>>,
}

impl Recorder {
    /// Creates the file, or empties the one that is there.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path) -> Outcome<Self> {
        let file = private::create(path).map_err(|error| {
            Failed::usage(format!("cannot write `{}`: {error}", path.display()))
        })?;
        Ok(Self(Arc::new(Recorded {
            path: path.to_owned(),
            file: Mutex::new(file),
            lost: Mutex::default(),
        })))
    }

    /// Writes a line. If that fails, the program continues; [`Recorder::all_written`] reports the error.
    pub fn write(&self, line: &str) {
        if let Err(error) = writeln!(self.0.file.lock(), "{line}") {
            self.0.lost.lock().get_or_insert(error);
        }
    }

    /// Fails if a line was not written.
    ///
    /// # Errors
    /// The first error.
    pub fn all_written(&self) -> Outcome {
        let Some(error) = self.0.lost.lock().take() else {
            return Ok(());
        };
        let path = self.0.path.display();
        let said = format!("the recording `{path}` is incomplete: {error}");
        Err(Failed::new(Code::Output, said))
    }
}

/// One line of a recording or of `--wire`.
#[derive(Serialize)]
struct Line<'m> {
    /// Milliseconds since the start.
    ms: f64,
    /// `out` to the server, `in` from it.
    direction: &'static str,
    message: &'m RawValue,
}

impl Wire {
    /// Shows messages on stderr if `is_shown`, and records them if `record` is a file; `secrets` are masked.
    pub fn open(is_shown: bool, record: Option<&Path>, secrets: Secrets) -> Outcome<Self> {
        Ok(Self(Arc::new(Seen {
            started: Instant::now(),
            is_shown,
            secrets,
            file: record.map(Recorder::create).transpose()?,
            kept: Mutex::default(),
        })))
    }

    /// Fails if a message is missing from the recording.
    ///
    /// # Errors
    /// The first error while writing.
    pub fn all_written(&self) -> Outcome {
        self.0.file.as_ref().map_or(Ok(()), Recorder::all_written)
    }

    /// Adds a hook to a client, so that its messages are shown and recorded here.
    pub fn tap(&self, client: Client) -> Client {
        let seen = self.0.clone();
        client.on_wire(move |passing| seen.see(passing))
    }

    /// Shows and records a message that was not sent by a client.
    pub fn pass(&self, direction: Direction, message: &[u8]) {
        if self.0.is_shown || self.0.file.is_some() {
            self.0.write(direction, message);
        }
    }

    /// The newest result of a method, as the server wrote it.
    pub fn result(&self, method: &str) -> Option<Box<RawValue>> {
        let kept = self.0.kept.lock();
        let found = kept.results.iter().find(|(of, _)| of == method);
        found.map(|(_, result)| result.clone())
    }

    /// The newest errors of the server, as it wrote them.
    pub fn errors(&self) -> Vec<ErrorObject> {
        let kept = self.0.kept.lock();
        let errors = kept.errors.iter();
        errors
            .filter_map(|error| serde_json::from_str(error.get()).ok())
            .collect()
    }

    /// Shows the head of an HTTP request or response, if messages are shown.
    pub(crate) fn show_head(&self, direction: Direction, head: &Value) {
        if !self.0.is_shown {
            return;
        }
        let line = json!({
            "ms": milliseconds(self.0.started),
            "direction": name(direction),
            "http": head,
        });
        let line = self.0.secrets.mask(&line.to_string());
        let _ = writeln!(std::io::stderr().lock(), "{}", for_stderr(&line));
    }
}

impl Seen {
    fn see(&self, passing: WireMessage<'_>) {
        if self.is_shown || self.file.is_some() {
            self.write(passing.direction, passing.message);
        }
        let Ok(Frame::One(message)) = parse(passing.message) else {
            return;
        };
        match (passing.direction, message) {
            (Direction::Out, Message::Request(request)) => {
                let mut kept = self.kept.lock();
                if kept.waiting.len() == MAX_WAITING {
                    kept.waiting.remove(0);
                }
                let method = request.method.into_owned();
                kept.waiting.push((request.id.into_owned(), method));
            }
            (Direction::In, Message::Response(response)) => {
                let mut kept = self.kept.lock();
                match (response.id, response.outcome) {
                    (Some(id), Ok(result)) => kept.keep(&id, result),
                    (_, Err(error)) => {
                        if kept.errors.len() == MAX_ERRORS {
                            kept.errors.remove(0);
                        }
                        kept.errors.push(error.value().to_owned());
                    }
                    (None, Ok(_)) => {}
                }
            }
            _ => {}
        }
    }

    fn write(&self, direction: Direction, message: &[u8]) {
        let line = line(self.started, name(direction), message, &self.secrets);
        if self.is_shown {
            let _ = writeln!(std::io::stderr().lock(), "{}", for_stderr(&line));
        }
        if let Some(file) = &self.file {
            file.write(&line);
        }
    }
}

fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Out => "out",
        Direction::In => "in",
    }
}

/// Milliseconds since `started`, rounded to microseconds.
fn milliseconds(started: Instant) -> f64 {
    (started.elapsed().as_secs_f64() * 1e6).round() / 1e3
}

/// A message as a line of NDJSON, without its secrets. A message that is not JSON is written as a
/// string.
pub fn line(
    started: Instant,
    direction: &'static str,
    message: &[u8],
    secrets: &Secrets,
) -> String {
    let text = secrets.mask(&String::from_utf8_lossy(message));
    let message = RawValue::from_string(text)
        .or_else(|_| serde_json::value::to_raw_value(&String::from_utf8_lossy(message)));
    let Ok(message) = message else {
        return String::new();
    };
    let line = Line {
        ms: milliseconds(started),
        direction,
        message: &message,
    };
    serde_json::to_string(&line).unwrap_or_default()
}

impl Kept {
    fn keep(&mut self, id: &IdRef<'_>, result: Raw<'_>) {
        let mut waiting = self.waiting.iter();
        let Some(place) = waiting.position(|(waiting, _)| waiting.as_ref() == *id) else {
            return;
        };
        let (_, method) = self.waiting.swap_remove(place);
        self.results.retain(|(of, _)| *of != method);
        self.results.push((method, result.value().to_owned()));
    }
}
