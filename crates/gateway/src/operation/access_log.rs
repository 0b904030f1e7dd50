//! The access log: one line of JSON for each request.

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

use super::log_writer::LogWriter;

/// How many lines are queued. If the disk is slower, lines are lost, but no request waits.
const MAX_WAITING: usize = 4096;

/// Writes a line of JSON for each request. Arguments and results are not logged.
#[derive(Clone, Debug)]
pub struct AccessLog {
    lines: SyncSender<Vec<u8>>,
    lost: Arc<AtomicU64>,
}

/// One line of the access log: a request and its outcome.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AccessRecord<'a> {
    /// Milliseconds since 1970.
    pub time: u64,
    /// The method, or `other` for methods that the protocol does not define.
    pub method: &'a str,
    /// The name of the tool or prompt in the gateway, or the URI without its user and query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// The id of the caller, if the guard identified it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caller: Option<&'a str>,
    /// The revision of the client.
    pub revision: &'a str,
    /// `ok`, `tool_error`, `error`, `denied`, `limited` or `cancelled`.
    pub outcome: &'a str,
    /// The rule that denied the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
    /// The code of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i64>,
    /// How long the request took.
    pub milliseconds: f64,
    /// The length of the result in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// The trace that the request belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<&'a str>,
}

impl AccessLog {
    /// Makes an access log that writes to a file, to stderr, or to any other sink. Lines are
    /// written by a separate thread, which ends with the log. While lines cannot be written, for
    /// example because the disk is full, some are kept and the rest are dropped; logging resumes
    /// when writing works again.
    pub fn new(sink: impl Write + Send + 'static) -> Self {
        let (lines, waiting) = sync_channel::<Vec<u8>>(MAX_WAITING);
        let lost = Arc::default();
        let writer = LogWriter::new(sink, Arc::clone(&lost));
        thread::spawn(move || writer.run(&waiting));
        Self { lines, lost }
    }

    /// How many lines were lost because the disk was full or too slow.
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
