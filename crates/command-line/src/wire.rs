//! Every message of a connection: shown with `--wire`, and the last result kept as it came.

use std::{fs::File, io::Write as _, path::Path, sync::Arc, time::Instant};

use serde::Serialize;
use serde_json::{Value, json, value::RawValue};
use turnbuckle::{
    Client,
    client::{Direction, Passing},
    protocol::envelope::{Frame, Id, IdRef, Message, Raw, parse},
};
use turnbuckle_base::lock::Mutex;

use crate::{
    failure::{Failed, Outcome},
    secret::Secrets,
};

/// What goes over the wire. Clones see the same.
#[derive(Clone)]
pub struct Wire(Arc<Seen>);

struct Seen {
    started: Instant,
    is_shown: bool,
    secrets: Secrets,
    file: Option<Mutex<File>>,
    kept: Mutex<Kept>,
}

/// Requests without an answer, and the newest result of each method.
#[derive(Default)]
struct Kept {
    waiting: Vec<(Id, String)>,
    results: Vec<(String, Box<RawValue>)>,
}

/// How many requests are remembered while their results are awaited; a command makes few.
const MAX_WAITING: usize = 64;

/// One line of a recording or of `--wire`.
#[derive(Serialize)]
struct Line<'m> {
    /// Milliseconds since the beginning.
    ms: f64,
    /// `out` to the server, `in` from it.
    direction: &'static str,
    message: &'m RawValue,
}

impl Wire {
    /// Shows messages on stderr, writes them to a file, or neither; `secrets` are masked.
    pub fn open(is_shown: bool, record: Option<&Path>, secrets: Secrets) -> Outcome<Self> {
        let create = |path: &Path| {
            let file = File::create(path).map(Mutex::new);
            file.map_err(|error| {
                Failed::usage(format!("cannot write `{}`: {error}", path.display()))
            })
        };
        Ok(Self(Arc::new(Seen {
            started: Instant::now(),
            is_shown,
            secrets,
            file: record.map(create).transpose()?,
            kept: Mutex::default(),
        })))
    }

    /// A client whose messages are seen here.
    pub fn tap(&self, client: Client) -> Client {
        let seen = self.0.clone();
        client.on_wire(move |passing| seen.see(passing))
    }

    /// Shows and records a message that passes outside of a client.
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

    /// Shows the head of a request or an answer of HTTP, where messages are shown.
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
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    }
}

impl Seen {
    fn see(&self, passing: Passing<'_>) {
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
                if let (Some(id), Ok(result)) = (response.id, response.outcome) {
                    self.kept.lock().keep(&id, result);
                }
            }
            _ => {}
        }
    }

    fn write(&self, direction: Direction, message: &[u8]) {
        let line = line(self.started, name(direction), message, &self.secrets);
        if self.is_shown {
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
        if let Some(file) = &self.file {
            let _ = writeln!(file.lock(), "{line}");
        }
    }
}

fn name(direction: Direction) -> &'static str {
    match direction {
        Direction::Out => "out",
        Direction::In => "in",
    }
}

/// Milliseconds since then, to the microsecond.
fn milliseconds(started: Instant) -> f64 {
    (started.elapsed().as_secs_f64() * 1e6).round() / 1e3
}

/// A message as a line of NDJSON, without its secrets. What is no JSON is there as a text.
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
