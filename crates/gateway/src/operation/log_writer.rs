//! Writes the lines of a log, and resumes after the disk was full.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

/// 64 KiB of lines are kept while they cannot be written. Further lines are lost, and counted.
const MAX_UNWRITTEN: usize = 64 * 1024;

/// How long to wait before writing is tried again, if no further line arrives.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Writes lines to a sink that may fail for a while.
pub(super) struct LogWriter<W> {
    sink: W,
    lost: Arc<AtomicU64>,
    /// Lines that are not written yet. The first one may be cut, if a part of it was written.
    unwritten: Vec<u8>,
    is_failing: bool,
}

impl<W: Write> LogWriter<W> {
    pub(super) fn new(sink: W, lost: Arc<AtomicU64>) -> Self {
        Self {
            sink,
            lost,
            unwritten: Vec::new(),
            is_failing: false,
        }
    }

    /// Writes lines until there are no more senders.
    pub(super) fn run(mut self, lines: &Receiver<Vec<u8>>) {
        loop {
            let next = if self.is_failing {
                lines.recv_timeout(RETRY_AFTER)
            } else {
                lines.recv().map_err(RecvTimeoutError::from)
            };
            let is_over = next == Err(RecvTimeoutError::Disconnected);
            if let Ok(line) = next {
                self.add(&line);
                // Write lines that are already waiting together.
                while self.unwritten.len() < MAX_UNWRITTEN
                    && let Ok(line) = lines.try_recv()
                {
                    self.add(&line);
                }
            }
            self.write();
            if is_over {
                // These lines will not be tried again.
                let left = memchr::memchr_iter(b'\n', &self.unwritten).count();
                self.lost.fetch_add(left as u64, Ordering::Relaxed);
                return;
            }
        }
    }

    fn add(&mut self, line: &[u8]) {
        if !self.unwritten.is_empty() && self.unwritten.len() + line.len() > MAX_UNWRITTEN {
            self.write();
        }
        // While writing works, lines of any length are accepted.
        if self.is_failing && self.unwritten.len() + line.len() > MAX_UNWRITTEN {
            self.lost.fetch_add(1, Ordering::Relaxed);
        } else {
            self.unwritten.extend_from_slice(line);
        }
    }

    fn write(&mut self) {
        match self.try_write() {
            Ok(()) if self.is_failing => {
                self.is_failing = false;
                let lost = self.lost.load(Ordering::Relaxed);
                tracing::warn!(lost, "the access log is written again");
            }
            Err(error) if !self.is_failing => {
                self.is_failing = true;
                let advice = advice(&error);
                tracing::error!(
                    %error,
                    "the access log cannot be written: some lines are kept until it can, others \
                     are lost{advice}"
                );
            }
            Ok(()) | Err(_) => {}
        }
    }

    fn try_write(&mut self) -> io::Result<()> {
        let mut written = 0;
        let ended = loop {
            let rest = &self.unwritten[written..];
            if rest.is_empty() {
                break self.sink.flush();
            }
            match self.sink.write(rest) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        self.unwritten.drain(..written);
        ended
    }
}

/// Advice for an error, if there is any.
fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "; make room on its disk"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with this many bytes left.
    struct Disk {
        written: Vec<u8>,
        left: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.left);
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.left -= count;
            self.written.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn writer(left: usize) -> LogWriter<Disk> {
        let written = Vec::new();
        LogWriter::new(Disk { written, left }, Arc::default())
    }

    #[test]
    fn a_line_that_a_full_disk_cut_is_continued() {
        let mut writer = writer(6);
        for line in ["one\n", "two\n", "three\n"] {
            writer.add(line.as_bytes());
            writer.write();
        }
        assert_eq!(writer.sink.written, b"one\ntw");
        writer.sink.left = usize::MAX;
        writer.add(b"four\n");
        writer.write();
        assert_eq!(writer.sink.written, b"one\ntwo\nthree\nfour\n");
        assert_eq!(writer.lost.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn lines_that_a_full_disk_keeps_out_are_bounded_and_counted() {
        let mut writer = writer(0);
        let line = [&[b'x'; 1023][..], b"\n"].concat();
        for _ in 0..100 {
            writer.add(&line);
            writer.write();
        }
        assert_eq!(writer.unwritten.len(), MAX_UNWRITTEN);
        assert_eq!(writer.lost.load(Ordering::Relaxed), 36);
        writer.sink.left = usize::MAX;
        for _ in 0..100 {
            writer.add(&line);
            writer.write();
        }
        assert_eq!(writer.sink.written.len(), (64 + 100) * 1024);
        assert_eq!(writer.lost.load(Ordering::Relaxed), 36);
    }

    #[test]
    fn lines_that_are_left_at_the_end_are_counted() {
        let (sender, lines) = std::sync::mpsc::channel();
        for line in ["one\n", "two\n", "three\n"] {
            sender.send(line.as_bytes().to_vec()).expect("it is read");
        }
        drop(sender);
        let writer = writer(6);
        let lost = Arc::clone(&writer.lost);
        writer.run(&lines);
        assert_eq!(lost.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn room_is_asked_for_where_it_helps() {
        assert_ne!(advice(&io::ErrorKind::StorageFull.into()), "");
        assert_eq!(advice(&io::ErrorKind::BrokenPipe.into()), "");
    }

    #[test]
    fn a_line_longer_than_what_is_kept_is_written() {
        let mut writer = writer(usize::MAX);
        writer.add(b"short\n");
        writer.add(&b"x".repeat(2 * MAX_UNWRITTEN));
        writer.write();
        assert_eq!(writer.sink.written.len(), 6 + 2 * MAX_UNWRITTEN);
        assert_eq!(writer.lost.load(Ordering::Relaxed), 0);
    }
}
