//! Every message of a connection: shown with `--wire`, and the last result kept as it came.

use std::{
    io::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json, value::RawValue};
use turnbuckle::{
    Client,
    client::{Direction, Passing},
};

use crate::{
    exit::{Failed, Outcome},
    secret::Secrets,
    target::{Options, Server},
};

/// What goes over the wire. Clones see the same.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Seen>);

struct Seen {
    started: Instant,
    is_shown: bool,
    secrets: Secrets,
    file: Option<Mutex<std::fs::File>>,
    kept: Mutex<Kept>,
}

/// The newest request and its result.
#[derive(Default)]
struct Kept {
    waiting: Vec<(String, String)>,
    results: Vec<(String, Box<RawValue>)>,
}

/// How many requests are remembered while their results are awaited; a command makes few.
const MAX_WAITING: usize = 64;

/// The parts of a message that tell whose it is.
#[derive(Deserialize)]
struct Envelope<'m> {
    #[serde(borrow)]
    id: Option<&'m RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    result: Option<&'m RawValue>,
}

/// One line of a recording or of `--wire`.
#[derive(Serialize)]
pub(crate) struct Line<'m> {
    /// Milliseconds since the beginning.
    pub(crate) ms: f64,
    /// `out` to the server, `in` from it.
    pub(crate) direction: &'static str,
    pub(crate) message: &'m RawValue,
}

impl Wire {
    pub(crate) fn new(options: &Options, server: &Server) -> Outcome<Self> {
        let file = options.record.as_ref().map(|path| {
            std::fs::File::create(path)
                .map(Mutex::new)
                .map_err(|error| {
                    Failed::usage(format!("cannot write `{}`: {error}", path.display()))
                })
        });
        Ok(Self(Arc::new(Seen {
            started: Instant::now(),
            is_shown: options.wire,
            secrets: Secrets::of(options, server),
            file: file.transpose()?,
            kept: Mutex::default(),
        })))
    }

    /// A client whose messages are seen here.
    pub(crate) fn tap(&self, client: Client) -> Client {
        let seen = self.0.clone();
        client.on_wire(move |passing| seen.see(passing))
    }

    /// Shows and records a message that passes outside of a client.
    pub(crate) fn pass(&self, direction: Direction, message: &[u8]) {
        if self.0.is_shown || self.0.file.is_some() {
            self.0.write(direction, message);
        }
    }

    /// One that shows and records nothing.
    #[cfg(test)]
    pub(crate) fn unseen() -> Self {
        Self(Arc::new(Seen {
            started: Instant::now(),
            is_shown: false,
            secrets: Secrets::default(),
            file: None,
            kept: Mutex::default(),
        }))
    }

    /// The newest result of a method, as the server wrote it.
    pub(crate) fn result(&self, method: &str) -> Option<Box<RawValue>> {
        let kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.results.iter().find(|(of, _)| of == method);
        found.map(|(_, result)| result.clone())
    }
}

impl Wire {
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
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(passing.message) else {
            return;
        };
        let Some(id) = envelope.id.map(RawValue::get) else {
            return;
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match (passing.direction, envelope.method, envelope.result) {
            (Direction::Out, Some(method), _) => {
                if kept.waiting.len() == MAX_WAITING {
                    kept.waiting.remove(0);
                }
                kept.waiting.push((id.to_owned(), method));
            }
            (Direction::In, None, Some(result)) => kept.keep(id, result),
            _ => {}
        }
    }

    fn write(&self, direction: Direction, message: &[u8]) {
        let line = line(self.started, name(direction), message, &self.secrets);
        if self.is_shown {
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
        if let Some(file) = &self.file {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = writeln!(file, "{line}");
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
pub(crate) fn line(
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
    fn keep(&mut self, id: &str, result: &RawValue) {
        let Some(place) = self.waiting.iter().position(|(waiting, _)| waiting == id) else {
            return;
        };
        let (_, method) = self.waiting.swap_remove(place);
        self.results.retain(|(of, _)| *of != method);
        self.results.push((method, result.to_owned()));
    }
}
