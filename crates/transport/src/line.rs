//! Splits bytes into lines without copying them.

use memchr::memchr;

use crate::limits::RETAINED_BUFFER_BYTES;
use crate::receive::LineFault;

/// 64 KiB: the default capacity of a Linux pipe, so one read empties a full pipe.
const CHUNK_BYTES: usize = 64 * 1024;

/// 8 KiB: enough for nearly every first message, and eight times fewer memory pages to touch before the
/// first answer than [`CHUNK_BYTES`]. The buffer grows with the first read that fills it.
const FIRST_BYTES: usize = 8 * 1024;

/// The content of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Message(&'a [u8]),
    Fault(LineFault<'a>),
}

/// The read buffer of one connection.
#[derive(Debug)]
pub(crate) struct LineBuffer {
    /// All bytes are initialised; the bytes that were read are in `start..end`.
    bytes: Vec<u8>,
    start: usize,
    /// There is no line end in `start..scanned`.
    scanned: usize,
    end: usize,
    /// The minimum size of the buffer.
    least: usize,
    limit: usize,
    /// Whether the current line was too long and was already reported.
    is_skipping: bool,
}

impl LineBuffer {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            start: 0,
            scanned: 0,
            end: 0,
            least: CHUNK_BYTES,
            limit,
            is_skipping: false,
        }
    }

    /// Makes the buffer small until a read fills it.
    #[must_use]
    pub(crate) fn starting_small(self) -> Self {
        Self {
            least: FIRST_BYTES,
            ..self
        }
    }

    /// The space for the next read. Never empty.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        let kept = self.end - self.start;
        if kept == 0 {
            self.rewind();
            if self.bytes.len() > RETAINED_BUFFER_BYTES {
                self.bytes = Vec::new();
            }
        }
        let wanted = kept.max(self.least / 2);
        if self.bytes.len() - self.end < wanted && self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.scanned -= self.start;
            self.start = 0;
            self.end = kept;
        }
        if self.bytes.len() - self.end < wanted {
            // The size doubles, so a line is only moved a constant number of times, however long it
            // gets.
            let size = (self.end + wanted).max(self.least);
            self.bytes.resize(size, 0);
        }
        &mut self.bytes[self.end..]
    }

    /// Records that `count` bytes of the space were filled.
    pub(crate) fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.bytes.len());
        if self.end == self.bytes.len() {
            self.least = CHUNK_BYTES;
        }
    }

    /// Returns the next complete line, or a fault for a line that is too long. Lines that contain only
    /// white space are skipped.
    pub(crate) fn next(&mut self) -> Option<Line<'_>> {
        loop {
            let Some(offset) = memchr(b'\n', &self.bytes[self.scanned..self.end]) else {
                self.scanned = self.end;
                return self.overlong().map(Line::Fault);
            };
            let (from, to) = (self.start, self.scanned + offset);
            self.start = to + 1;
            self.scanned = self.start;
            if std::mem::take(&mut self.is_skipping) {
                continue;
            }
            // Peers on Windows end their lines with CR LF.
            let to = if to > from && self.bytes[to - 1] == b'\r' {
                to - 1
            } else {
                to
            };
            if self.bytes[from..to].trim_ascii_start().is_empty() {
                continue;
            }
            let line = &self.bytes[from..to];
            return Some(if line.len() > self.limit {
                Line::Fault(LineFault::TooLong {
                    head: line,
                    limit: self.limit,
                })
            } else {
                Line::Message(line)
            });
        }
    }

    /// Returns the last line, if it has no line end.
    pub(crate) fn finish(&mut self) -> Option<LineFault<'_>> {
        let rest = self.start..self.end;
        self.rewind();
        let rest = &self.bytes[rest];
        (!self.is_skipping && !rest.is_empty()).then_some(LineFault::Unterminated { rest })
    }

    /// Drops an incomplete line that is already too long.
    fn overlong(&mut self) -> Option<LineFault<'_>> {
        let line = self.start..self.end;
        // One extra byte may be the CR of the line end.
        if !self.is_skipping && line.len() <= self.limit.saturating_add(1) {
            return None;
        }
        self.rewind();
        if std::mem::replace(&mut self.is_skipping, true) {
            return None;
        }
        Some(LineFault::TooLong {
            head: &self.bytes[line],
            limit: self.limit,
        })
    }

    fn rewind(&mut self) {
        (self.start, self.scanned, self.end) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn feed(buffer: &mut LineBuffer, bytes: &[u8]) -> Vec<String> {
        let mut seen = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let space = buffer.space();
            let count = rest.len().min(space.len());
            space[..count].copy_from_slice(&rest[..count]);
            buffer.filled(count);
            rest = &rest[count..];
            while let Some(line) = buffer.next() {
                seen.push(match line {
                    Line::Message(message) => String::from_utf8_lossy(message).into_owned(),
                    Line::Fault(LineFault::TooLong { head, .. }) => format!("!{}", head.len()),
                    Line::Fault(LineFault::Unterminated { .. }) => unreachable!("not at the end"),
                });
            }
        }
        seen
    }

    #[test]
    fn a_line_in_two_reads_is_one_message() {
        let mut buffer = LineBuffer::new(100);
        assert!(feed(&mut buffer, b"{\"a\"").is_empty());
        assert_eq!(feed(&mut buffer, b":1}\n{}\n"), ["{\"a\":1}", "{}"]);
        assert_eq!(buffer.finish(), None);
    }

    #[test]
    fn crlf_and_blank_lines_leave_no_trace() {
        let mut buffer = LineBuffer::new(100);
        assert_eq!(feed(&mut buffer, b"\n\r\n{}\r\n \t\n[]\n"), ["{}", "[]"]);
    }

    #[test]
    fn the_limit_counts_the_message_and_not_its_line_end() {
        let mut buffer = LineBuffer::new(4);
        assert_eq!(feed(&mut buffer, b"1234\r\n"), ["1234"]);
        assert_eq!(feed(&mut buffer, b"12345\n"), ["!5"]);
        assert!(feed(&mut buffer, b"1234\r").is_empty());
        assert_eq!(feed(&mut buffer, b"\n"), ["1234"]);
    }

    #[test]
    fn a_line_without_end_is_reported_once_and_not_kept() {
        let mut buffer = LineBuffer::new(1000);
        let long = vec![b'x'; 10 * CHUNK_BYTES];
        assert_eq!(feed(&mut buffer, &long).len(), 1);
        assert!(buffer.bytes.len() <= 2 * CHUNK_BYTES);
        assert_eq!(feed(&mut buffer, b"xx\n{}\n"), ["{}"]);
    }

    #[test]
    fn a_large_buffer_is_given_back() {
        let mut buffer = LineBuffer::new(usize::MAX);
        let mut long = vec![b'x'; 3 * RETAINED_BUFFER_BYTES];
        long.push(b'\n');
        assert_eq!(feed(&mut buffer, &long).len(), 1);
        assert_eq!(feed(&mut buffer, b"{}\n"), ["{}"]);
        assert!(buffer.bytes.len() <= RETAINED_BUFFER_BYTES);
    }

    #[test]
    fn the_buffer_is_small_until_a_read_fills_it() {
        let mut buffer = LineBuffer::new(usize::MAX).starting_small();
        for _ in 0..2 * FIRST_BYTES {
            assert_eq!(feed(&mut buffer, b"{}\n"), ["{}"]);
        }
        assert_eq!(buffer.space().len(), FIRST_BYTES);
        assert!(feed(&mut buffer, &[b'x'; FIRST_BYTES]).is_empty());
        assert_eq!(feed(&mut buffer, b"\n").len(), 1);
        assert_eq!(buffer.space().len(), CHUNK_BYTES);
    }

    #[test]
    fn the_end_of_input_inside_a_line_shows_the_rest() {
        let mut buffer = LineBuffer::new(100);
        assert_eq!(feed(&mut buffer, b"{}\n{\"torn"), ["{}"]);
        assert_eq!(
            buffer.finish(),
            Some(LineFault::Unterminated { rest: b"{\"torn" })
        );
        assert_eq!(buffer.finish(), None);
    }

    proptest! {
        #[test]
        fn however_the_bytes_are_cut_the_lines_are_the_same(
            lines in prop::collection::vec("[a-z]{0,30}", 0..40),
            cuts in prop::collection::vec(1_usize..50, 1..40),
        ) {
            let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
            let mut buffer = LineBuffer::new(20);
            let (mut seen, mut rest) = (Vec::new(), text.as_bytes());
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break; }
                let (now, later) = rest.split_at((*cut).min(rest.len()));
                seen.extend(feed(&mut buffer, now).into_iter().map(|line| {
                    if line.starts_with('!') { "!".to_owned() } else { line }
                }));
                rest = later;
            }
            let expected: Vec<String> = lines.iter().filter(|line| !line.is_empty()).map(|line| {
                if line.len() > 20 { "!".to_owned() } else { line.clone() }
            }).collect();
            prop_assert_eq!(seen, expected);
        }
    }
}
