//! The chunked transfer coding (RFC 9112, section 7.1), decoded from bytes that come in pieces.

use bytes::{Buf, Bytes};

/// 16 KiB of chunk extensions and of trailer fields, each for one response, and of digits and blanks in
/// one line. They are not used, and without a limit a response of one byte could be endless.
const MAX_UNREAD_BYTES: usize = 16 * 1024;

/// The position in the coding.
#[derive(Debug, PartialEq)]
pub(super) struct Chunked {
    state: ChunkedPart,
    /// Digits and blanks of the current size.
    size_bytes: usize,
    /// Bytes of chunk extensions so far.
    extensions: usize,
    /// Bytes of trailer fields so far.
    trailers: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkedPart {
    /// Before the first digit of a chunk's size.
    Start,
    Size(u64),
    /// Blanks after the size, with which some servers pad it.
    Blank(u64),
    Extension(u64),
    /// The line feed after the size.
    SizeEnd(u64),
    /// This many bytes of the chunk are to come.
    Data(u64),
    /// The carriage return after the data, and then the line feed.
    DataReturn,
    DataEnd,
    /// The start of a trailer line, the middle of one, and its line feed.
    TrailerStart,
    Trailer,
    TrailerEnd,
    /// The line feed after the last, empty line.
    LastEnd,
    Ended,
}

/// Why bytes are not a valid coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum ChunkedError {
    #[error("the size of a chunk cannot be read")]
    Size,
    #[error("a chunk does not end where its size says")]
    End,
    #[error(
        "the size of a chunk, chunk extensions or trailers are longer than {MAX_UNREAD_BYTES} bytes"
    )]
    TooLong,
}

impl Chunked {
    pub(super) fn new() -> Self {
        Self {
            state: ChunkedPart::Start,
            size_bytes: 0,
            extensions: 0,
            trailers: 0,
        }
    }

    /// Whether the last chunk and its trailers have been read.
    pub(super) fn is_ended(&self) -> bool {
        self.state == ChunkedPart::Ended
    }

    /// Removes the next piece of data from `input`. Returns `None` if more input is needed or the body
    /// has ended; bytes after its end stay in `input`.
    pub(super) fn next(&mut self, input: &mut Bytes) -> Result<Option<Bytes>, ChunkedError> {
        while !self.is_ended() && !input.is_empty() {
            if let ChunkedPart::Data(left) = self.state {
                let here = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
                let left = left - here as u64;
                self.state = if left == 0 {
                    ChunkedPart::DataReturn
                } else {
                    ChunkedPart::Data(left)
                };
                return Ok(Some(input.split_to(here)));
            }
            self.step(input.get_u8())?;
        }
        Ok(None)
    }

    /// Processes a byte that is not data.
    fn step(&mut self, byte: u8) -> Result<(), ChunkedError> {
        self.state = match (self.state, byte) {
            (ChunkedPart::Start, _) => {
                self.size_bytes = 0;
                ChunkedPart::Size(digit(byte).ok_or(ChunkedError::Size)?)
            }
            (ChunkedPart::Size(size), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                count(&mut self.size_bytes)?;
                let digit = digit(byte).ok_or(ChunkedError::Size)?;
                let size = size.checked_mul(16).and_then(|it| it.checked_add(digit));
                ChunkedPart::Size(size.ok_or(ChunkedError::Size)?)
            }
            (ChunkedPart::Size(size) | ChunkedPart::Blank(size), b' ' | b'\t') => {
                count(&mut self.size_bytes)?;
                ChunkedPart::Blank(size)
            }
            (ChunkedPart::Size(size) | ChunkedPart::Blank(size), b';') => {
                ChunkedPart::Extension(size)
            }
            (
                ChunkedPart::Size(size) | ChunkedPart::Blank(size) | ChunkedPart::Extension(size),
                b'\r',
            ) => ChunkedPart::SizeEnd(size),
            // Some parsers accept a line feed alone as the end of a line, and others do not: such a
            // difference could hide another response.
            (ChunkedPart::Extension(_), b'\n') => return Err(ChunkedError::Size),
            (ChunkedPart::Extension(size), _) => {
                count(&mut self.extensions)?;
                ChunkedPart::Extension(size)
            }
            (ChunkedPart::SizeEnd(0) | ChunkedPart::TrailerEnd, b'\n') => ChunkedPart::TrailerStart,
            (ChunkedPart::SizeEnd(size), b'\n') => ChunkedPart::Data(size),
            (ChunkedPart::Size(_) | ChunkedPart::Blank(_) | ChunkedPart::SizeEnd(_), _) => {
                return Err(ChunkedError::Size);
            }
            (ChunkedPart::DataReturn, b'\r') => ChunkedPart::DataEnd,
            (ChunkedPart::DataEnd, b'\n') => ChunkedPart::Start,
            (ChunkedPart::TrailerStart, b'\r') => ChunkedPart::LastEnd,
            (ChunkedPart::LastEnd, b'\n') => ChunkedPart::Ended,
            (ChunkedPart::Trailer, b'\r') => ChunkedPart::TrailerEnd,
            (ChunkedPart::TrailerStart | ChunkedPart::Trailer, _) if byte != b'\n' => {
                count(&mut self.trailers)?;
                ChunkedPart::Trailer
            }
            _ => return Err(ChunkedError::End),
        };
        Ok(())
    }
}

fn digit(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(16).map(u64::from)
}

fn count(bytes: &mut usize) -> Result<(), ChunkedError> {
    *bytes += 1;
    if *bytes > MAX_UNREAD_BYTES {
        return Err(ChunkedError::TooLong);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes input in pieces of `size` bytes. Returns the data, and the rest of the input.
    fn read(input: &[u8], size: usize) -> Result<(Vec<u8>, Vec<u8>, bool), ChunkedError> {
        let mut chunked = Chunked::new();
        let (mut data, mut rest) = (Vec::new(), Vec::new());
        for piece in input.chunks(size) {
            let mut piece = Bytes::copy_from_slice(piece);
            while let Some(some) = chunked.next(&mut piece)? {
                data.extend_from_slice(&some);
            }
            rest.extend_from_slice(&piece);
        }
        Ok((data, rest, chunked.is_ended()))
    }

    fn whole(input: &str) -> Result<String, ChunkedError> {
        let (data, _, is_ended) = read(input.as_bytes(), input.len())?;
        assert!(is_ended, "{input:?}");
        Ok(String::from_utf8(data).unwrap())
    }

    #[test]
    fn extensions_blanks_and_trailers_are_skipped() {
        assert_eq!(whole("3\r\nabc\r\n0\r\n\r\n"), Ok("abc".to_owned()));
        assert_eq!(whole("0A \t\r\n0123456789\r\n0\r\n\r\n").unwrap().len(), 10);
        assert_eq!(whole("1;a=\"b;c\"\r\nx\r\n0;z\r\n\r\n"), Ok("x".to_owned()));
        assert_eq!(whole("0\r\nA: b\r\nC: d\r\n\r\n"), Ok(String::new()));
    }

    #[test]
    fn bytes_after_the_end_are_left() {
        let (data, rest, is_ended) = read(b"1\r\nx\r\n0\r\n\r\nHTTP", 100).unwrap();
        assert_eq!((&*data, &*rest, is_ended), (&b"x"[..], &b"HTTP"[..], true));
    }

    #[test]
    fn what_is_cut_off_has_not_ended() {
        let input = b"3\r\nabc\r\n0\r\nA: b\r\n\r\n";
        for length in 0..input.len() {
            let (_, _, is_ended) = read(&input[..length], 100).unwrap();
            assert!(!is_ended, "{length}");
        }
    }

    #[test]
    fn what_readers_could_disagree_on_is_an_error() {
        for wrong in [
            "\r\n",
            "x\r\n",
            "-1\r\n",
            "+1\r\n",
            "1\nx",
            "1;a\nx",
            "1 2\r\n",
            "1\rx",
            "1\r\nxx\r\n",
            "1\r\nx\n",
            "10000000000000000\r\n",
            "0\r\n\n",
            "0\r\nA: b\n",
            "0\r\n\rx",
        ] {
            assert!(read(wrong.as_bytes(), 100).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn what_nobody_reads_has_bounds() {
        let long = "x".repeat(MAX_UNREAD_BYTES + 1);
        for input in [
            format!("1;{long}\r\n"),
            format!("1{}\r\n", " ".repeat(MAX_UNREAD_BYTES + 1)),
            "0".repeat(MAX_UNREAD_BYTES + 2),
            format!("0\r\n{long}\r\n\r\n"),
            "1;x\r\na\r\n".repeat(MAX_UNREAD_BYTES + 1),
        ] {
            assert_eq!(read(input.as_bytes(), 4096), Err(ChunkedError::TooLong));
        }
    }

    #[test]
    fn a_stream_may_have_any_number_of_padded_chunks() {
        let input = "1    \r\nx\r\n".repeat(MAX_UNREAD_BYTES);
        let (data, ..) = read(input.as_bytes(), 4096).unwrap();
        assert_eq!(data.len(), MAX_UNREAD_BYTES);
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_the_bytes_are_cut(
            chunks in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 0..6),
            size in 1..50_usize,
        ) {
            let mut input = Vec::new();
            for chunk in &chunks {
                input.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                input.extend_from_slice(chunk);
                input.extend_from_slice(b"\r\n");
            }
            input.extend_from_slice(b"0\r\n\r\n");
            let (data, rest, is_ended) = read(&input, size).unwrap();
            prop_assert_eq!(data, chunks.concat());
            prop_assert!(rest.is_empty() && is_ended);
        }

        #[test]
        fn nothing_makes_it_panic(input in prop::collection::vec(any::<u8>(), 0..200), size in 1..50_usize) {
            let _ = read(&input, size);
        }
    }
}
