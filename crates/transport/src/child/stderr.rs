//! The last lines that a child printed to standard error.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::Notify;
use turnbuckle_base::lock::Mutex;

use crate::line::{Line, LineBuffer};
use crate::receive::LineFault;

/// 1,000 lines: as much as users read after a failure.
const LOG_LINES: usize = 1_000;

/// 256 KiB: a hundred servers with much output take less than 26 MiB.
const LOG_BYTES: usize = 256 * 1024;

/// 8 KiB: a longer line is a dump, and its beginning shows what it is.
const LOG_LINE_BYTES: usize = 8 * 1024;

/// One line of a child's standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StderrLine {
    /// The number of the line, from 0 without gaps, so that a gap shows how many lines were missed.
    pub number: u64,
    /// The text. Invalid UTF-8 is replaced.
    pub text: String,
    /// Whether the line was cut because it was longer.
    pub is_cut: bool,
}

/// The last lines of a child's standard error. Clones share them, and the log outlives the child.
///
/// It holds at most 1,000 lines and 256 KiB, and 8 KiB of each line. It is empty unless standard error
/// was captured. (Output on standard error is logging and does not mean a failure: stdio.)
#[derive(Clone)]
pub struct StderrLog {
    shared: Arc<SharedLog>,
}

struct SharedLog {
    ring: Mutex<Ring>,
    news: Notify,
}

#[derive(Default)]
struct Ring {
    lines: VecDeque<StderrLine>,
    bytes: usize,
    next: u64,
    is_ended: bool,
}

impl StderrLog {
    /// Creates an empty log, for [`Command::stderr_log`](super::Command::stderr_log).
    pub fn new() -> Self {
        let shared = SharedLog {
            ring: Mutex::default(),
            news: Notify::new(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Returns the lines of the log, oldest first.
    pub fn lines(&self) -> Vec<StderrLine> {
        self.shared.ring.lock().lines.iter().cloned().collect()
    }

    /// Returns the last `count` lines as one text, for an error message. Empty if nothing was printed.
    pub fn tail(&self, count: usize) -> String {
        let ring = self.shared.ring.lock();
        let skipped = ring.lines.len().saturating_sub(count);
        let lines: Vec<&str> = ring
            .lines
            .iter()
            .skip(skipped)
            .map(|it| it.text.as_str())
            .collect();
        lines.join("\n")
    }

    /// Follows the log from its oldest line.
    pub fn follow(&self) -> StderrCursor {
        StderrCursor {
            log: self.clone(),
            next: 0,
        }
    }

    /// Reads `stderr` to its end, which is not the end of the log. It always reads, because a child
    /// must never block when its log is not read.
    pub(super) async fn fill(self, mut stderr: impl AsyncRead + Unpin) {
        let mut buffer = LineBuffer::new(LOG_LINE_BYTES);
        while let Ok(count @ 1..) = stderr.read(buffer.space()).await {
            buffer.filled(count);
            while let Some(line) = buffer.next() {
                let (Line::Message(text)
                | Line::Fault(
                    LineFault::TooLong { head: text, .. } | LineFault::Unterminated { rest: text },
                )) = line;
                self.push(text);
            }
        }
        if let Some(LineFault::Unterminated { rest }) = buffer.finish() {
            self.push(rest);
        }
    }

    /// Marks the end of the log.
    pub(super) fn end(&self) {
        self.shared.ring.lock().is_ended = true;
        self.shared.news.notify_waiters();
    }

    fn push(&self, text: &[u8]) {
        let is_cut = text.len() > LOG_LINE_BYTES;
        let text = String::from_utf8_lossy(&text[..text.len().min(LOG_LINE_BYTES)]).into_owned();
        self.shared.ring.lock().push(text, is_cut);
        self.shared.news.notify_waiters();
    }
}

impl Default for StderrLog {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for StderrLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ring = self.shared.ring.lock();
        formatter
            .debug_struct("StderrLog")
            .field("lines", &ring.lines.len())
            .field("is_ended", &ring.is_ended)
            .finish()
    }
}

impl Ring {
    fn push(&mut self, text: String, is_cut: bool) {
        self.bytes += text.len();
        self.lines.push_back(StderrLine {
            number: self.next,
            text,
            is_cut,
        });
        self.next += 1;
        while self.lines.len() > LOG_LINES || self.bytes > LOG_BYTES {
            let Some(oldest) = self.lines.pop_front() else {
                break;
            };
            self.bytes -= oldest.text.len();
        }
    }

    /// The first line with this number or a higher one.
    fn at(&self, number: u64) -> Option<&StderrLine> {
        let first = self.lines.front()?.number;
        let offset = usize::try_from(number.saturating_sub(first)).ok()?;
        self.lines.get(offset)
    }
}

/// A position in a child's standard error, for reading new lines as they come.
#[derive(Debug)]
pub struct StderrCursor {
    log: StderrLog,
    next: u64,
}

impl StderrCursor {
    /// Returns the next line, or `None` when the child has closed its standard error. Lines that were
    /// dropped before they were read are skipped; their numbers are missing.
    ///
    /// # Cancel safety
    /// Dropping the future loses no line.
    pub async fn next(&mut self) -> Option<StderrLine> {
        loop {
            let mut news = std::pin::pin!(self.log.shared.news.notified());
            news.as_mut().enable();
            {
                let ring = self.log.shared.ring.lock();
                if let Some(line) = ring.at(self.next) {
                    self.next = line.number + 1;
                    return Some(line.clone());
                }
                if ring.is_ended {
                    return None;
                }
            }
            news.await;
        }
    }
}
