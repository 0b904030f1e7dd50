//! A line of JSON for each request.

use std::{
    io::Write,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::Serialize;

/// How many lines wait to be written. A disk that is slower loses lines, and no request waits for it.
const MAX_WAITING: usize = 4096;

/// Writes a line of JSON for each request. Arguments and results are not written.
#[derive(Clone, Debug)]
pub struct AccessLog {
    lines: SyncSender<Vec<u8>>,
    lost: Arc<AtomicU64>,
}

/// What happened to one request.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AccessRecord<'a> {
    /// Milliseconds since 1970.
    pub time: u64,
    /// The method; `other` for methods that the protocol does not have.
    pub method: &'a str,
    /// The tool or prompt by its name in the gateway, or the URI without its query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// Who called, if the guard knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<&'a str>,
    /// The revision that the client speaks.
    pub revision: &'a str,
    /// `ok`, `tool_error`, `error`, `denied`, `limited` or `cancelled`.
    pub outcome: &'a str,
    /// The rule that denied it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The code of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// How long it took.
    pub milliseconds: f64,
    /// The length of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The trace that the request belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<&'a str>,
}

impl AccessLog {
    /// Writes to a file, to stderr, or to anything else. Lines are written by a thread of their own,
    /// which ends with the log.
    pub fn to(mut sink: impl Write + Send + 'static) -> Self {
        let (lines, waiting) = sync_channel::<Vec<u8>>(MAX_WAITING);
        thread::spawn(move || {
            while let Ok(line) = waiting.recv() {
                let written = sink.write_all(&line);
                // What else waits is written before the flush.
                let all = waiting
                    .try_iter()
                    .try_fold((), |(), line| sink.write_all(&line));
                if written.and(all).and_then(|()| sink.flush()).is_err() {
                    return;
                }
            }
        });
        Self {
            lines,
            lost: Arc::default(),
        }
    }

    /// How many lines were lost, because they could not be written in time.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub(super) fn write(&self, record: &AccessRecord<'_>) {
        let Ok(mut line) = serde_json::to_vec(record) else {
            return;
        };
        line.push(b'\n');
        match self.lines.try_send(line) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = since.unwrap_or(Duration::ZERO).as_millis();
    u64::try_from(milliseconds).unwrap_or(u64::MAX)
}
