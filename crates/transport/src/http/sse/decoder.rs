//! Decodes events from bytes that come in pieces.

use std::time::Duration;

use super::Event;

/// 64 MiB: the largest message on any transport; the other fields of an event are small.
pub const MAX_EVENT_BYTES: usize = 64 * 1024 * 1024;

/// 64 KiB: if a large line has grown the line buffer beyond this, its memory is freed, so that one
/// large event does not take memory for the life of the stream.
const RETAINED_LINE_BYTES: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An event is larger than the limit; the stream cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {limit} bytes; raise the limit or close the stream")]
pub struct EventTooLarge {
    /// The limit, in bytes.
    pub limit: usize,
}

/// Decodes events from a stream that comes in pieces.
///
/// An event is returned as soon as the line end that completes it has arrived. An event that is cut off
/// by the end of the stream is dropped, as the standard requires.
#[derive(Debug)]
pub struct Decoder {
    /// The current line, without its end.
    line: Vec<u8>,
    draft: Draft,
    /// Whether the last byte was a carriage return, so that a line feed belongs to the same line end.
    is_after_return: bool,
    is_first_line: bool,
    has_failed: bool,
    limit: usize,
}

/// The fields of an event so far.
#[derive(Debug, Default)]
struct Draft {
    id: Option<String>,
    event: Option<String>,
    data: Option<String>,
    retry: Option<Duration>,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

impl Decoder {
    /// Creates a decoder for the start of a stream, for events of up to [`MAX_EVENT_BYTES`].
    pub fn new() -> Self {
        Self {
            line: Vec::new(),
            draft: Draft::default(),
            is_after_return: false,
            is_first_line: true,
            has_failed: false,
            limit: MAX_EVENT_BYTES,
        }
    }

    /// Sets the size limit of an event in bytes, counting all fields.
    pub fn with_max_event_bytes(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Decodes a piece of the stream and adds the completed events to `events`.
    ///
    /// # Errors
    ///
    /// Fails if an event is too large. Events before it have been added; every later call fails too.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        events: &mut impl Extend<Event>,
    ) -> Result<(), EventTooLarge> {
        let mut rest = chunk;
        if self.is_after_return && !rest.is_empty() {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            self.is_after_return = false;
        }
        while let Some(at) = memchr::memchr2(b'\r', b'\n', rest) {
            let (line, end) = rest.split_at(at);
            self.check(line.len())?;
            events.extend(self.end_line(line));
            rest = self.after_line_end(end);
        }
        self.check(rest.len())?;
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// Returns the bytes after a line end. It has one or two bytes, and the second may come later.
    fn after_line_end<'c>(&mut self, end: &'c [u8]) -> &'c [u8] {
        self.is_after_return = end == b"\r";
        match end {
            [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
            [] => &[],
        }
    }

    /// Handles the end of a line, whose beginning may have come earlier.
    fn end_line(&mut self, end: &[u8]) -> Option<Event> {
        if self.line.is_empty() {
            return self.take_line(end);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let event = self.take_line(&line);
        if line.capacity() <= RETAINED_LINE_BYTES {
            line.clear();
            self.line = line;
        }
        event
    }

    fn take_line(&mut self, mut line: &[u8]) -> Option<Event> {
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.is_empty() {
            return std::mem::take(&mut self.draft).finish();
        }
        let (name, value) = match memchr::memchr(b':', line) {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &[][..]),
        };
        self.draft
            .take(name, value.strip_prefix(b" ").unwrap_or(value));
        None
    }

    /// Checks that this many more bytes are allowed, before they are stored.
    fn check(&mut self, more: usize) -> Result<(), EventTooLarge> {
        let held = self.line.len() + self.draft.len();
        if self.has_failed || held.saturating_add(more) > self.limit {
            self.has_failed = true;
            self.line = Vec::new();
            self.draft = Draft::default();
            return Err(EventTooLarge { limit: self.limit });
        }
        Ok(())
    }
}

impl Draft {
    fn take(&mut self, name: &[u8], value: &[u8]) {
        let text = String::from_utf8_lossy(value);
        match name {
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(&text);
                }
                None => self.data = Some(text.into_owned()),
            },
            b"id" if !value.contains(&0) => self.id = Some(text.into_owned()),
            b"event" => self.event = Some(text.into_owned()),
            b"retry" => {
                self.retry = digits(&text).map(Duration::from_millis).or(self.retry);
            }
            // A comment has an empty name. Unknown names are reserved for the future.
            _ => {}
        }
    }

    /// Returns the event; `None` if there were no fields, or only its kind.
    fn finish(self) -> Option<Event> {
        let is_event = self.data.is_some() || self.id.is_some() || self.retry.is_some();
        is_event.then(|| Event {
            id: self.id,
            event: self.event,
            data: self.data.unwrap_or_default(),
            retry: self.retry,
        })
    }

    fn len(&self) -> usize {
        [&self.id, &self.event, &self.data]
            .into_iter()
            .flatten()
            .map(String::len)
            .sum()
    }
}

fn digits(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::Frame;
    use super::*;
    use proptest::prelude::*;

    fn read(stream: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        Decoder::new().feed(stream, &mut events).unwrap();
        events
    }

    fn data(stream: &str) -> Vec<String> {
        let events = read(stream.as_bytes());
        events.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn every_line_end_ends_a_line() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = ["data: a", end, "data: b", end, end, "data: c", end, end].concat();
            assert_eq!(data(&stream), ["a\nb", "c"], "{end:?}");
        }
        assert_eq!(data("data: a\r\r\ndata: b\n\r"), ["a", "b"]);
    }

    #[test]
    fn one_blank_after_the_colon_is_dropped() {
        assert_eq!(data("data:a\ndata: b\ndata:  c\n\n"), ["a\nb\n c"]);
        assert_eq!(data("data: a: b\n\n"), ["a: b"]);
    }

    #[test]
    fn a_field_without_a_colon_is_empty() {
        assert_eq!(data("data\n\ndata\ndata\n\n"), ["", "\n"]);
        assert_eq!(read(b"id\n\n")[0].id.as_deref(), Some(""));
    }

    // rule: N5
    #[test]
    fn comments_and_unknown_fields_are_skipped() {
        assert_eq!(
            data(":\n\n: data: x\n\n:data: y\nother: z\nDATA: q\ndata: a\n\n"),
            ["a"]
        );
    }

    #[test]
    fn a_byte_order_mark_is_skipped_only_at_the_start() {
        assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\n"), ["a"]);
    }

    #[test]
    fn ids_kinds_and_waiting_times_are_read() {
        let events = read(b"id: 7\nevent: endpoint\nretry: 250\ndata: /x\n\ndata: y\n\n");
        assert_eq!(
            events[0],
            Event {
                id: Some("7".into()),
                event: Some("endpoint".into()),
                data: "/x".into(),
                retry: Some(Duration::from_millis(250)),
            }
        );
        assert_eq!(events[1].id, None);
        assert_eq!(events[1].event, None);
    }

    #[test]
    fn an_event_may_only_set_an_id_or_a_waiting_time() {
        let events = read(b"id: 1\ndata:\n\nretry: 9\n\nid: 2\n\nevent: alone\n\ndata: x\n\n");
        let ids: Vec<_> = events.iter().map(|event| event.id.as_deref()).collect();
        assert_eq!(ids, [Some("1"), None, Some("2"), None]);
        assert_eq!(events[1].retry, Some(Duration::from_millis(9)));
        assert_eq!(events[3].event, None);
    }

    #[test]
    fn an_id_with_nul_and_a_waiting_time_with_more_than_digits_are_ignored() {
        let events = read(b"id: 1\nid: a\0b\nretry: 1s\nretry: -1\nretry:\nretry: +1\ndata: x\n\n");
        assert_eq!(events[0].id.as_deref(), Some("1"));
        assert_eq!(events[0].retry, None);
        assert!(read(b"retry: 99999999999999999999999\n\n").is_empty());
    }

    #[test]
    fn an_event_that_is_cut_off_is_dropped() {
        assert!(read(b"data: a\n").is_empty());
        assert!(read(b"data: a").is_empty());
    }

    #[test]
    fn an_event_does_not_wait_for_the_second_half_of_a_line_end() {
        let mut decoder = Decoder::new();
        let mut events = Vec::new();
        decoder.feed(b"data: a\r\n\r", &mut events).unwrap();
        assert_eq!(events.len(), 1);
        decoder.feed(b"", &mut events).unwrap();
        decoder.feed(b"\ndata: b\n\n", &mut events).unwrap();
        assert_eq!(events[1].data, "b");
        assert_eq!(events.len(), 2);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(read(b"data: a\xff\n\n")[0].data, "a\u{fffd}");
    }

    #[test]
    fn an_event_beyond_the_limit_ends_the_stream() {
        for stream in [
            &b"data: 1\n\ndata: 123456789"[..],
            b"data: 1\n\ndata: 12\ndata: 34\ndata: 56\n\n",
            b"data: 1\n\n:123456789012345\n\n",
            b"data: 1\n\nid: 123456\ndata: 12\n\n",
            b"data: 1\n\ndata: 1234567\n\n",
        ] {
            for size in 1..stream.len() {
                let mut decoder = Decoder::new().with_max_event_bytes(12);
                let mut events = Vec::new();
                let outcome = stream
                    .chunks(size)
                    .try_for_each(|chunk| decoder.feed(chunk, &mut events));
                assert_eq!(outcome, Err(EventTooLarge { limit: 12 }), "{size}");
                assert_eq!(events.len(), 1);
                assert!(decoder.feed(b"\n\ndata: 2\n\n", &mut events).is_err());
                assert_eq!(events.len(), 1);
            }
        }
    }

    #[test]
    fn many_small_events_never_reach_the_limit() {
        let mut decoder = Decoder::new().with_max_event_bytes(16);
        let mut events = Vec::new();
        decoder
            .feed(&b"id: 1\ndata: 12\n\n:\n\n".repeat(1000), &mut events)
            .unwrap();
        assert_eq!(events.len(), 1000);
    }

    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"data: ".to_vec()),
            Just(b"data".to_vec()),
            Just(b"id: ".to_vec()),
            Just(b"event:".to_vec()),
            Just(b"retry: 12".to_vec()),
            Just(b":".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\n\n".to_vec()),
            Just(BYTE_ORDER_MARK.to_vec()),
            Just("ä世".as_bytes().to_vec()),
            proptest::collection::vec(any::<u8>(), 0..4),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn it_does_not_matter_how_a_stream_is_cut(
            stream in stream(),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            cuts.push(stream.len());
            cuts.sort_unstable();
            let mut decoder = Decoder::new();
            let (mut events, mut from) = (Vec::new(), 0);
            for to in cuts {
                decoder.feed(&stream[from..to], &mut events).unwrap();
                from = to;
            }
            prop_assert_eq!(events, read(&stream));
        }

        #[test]
        fn what_is_written_is_read(
            id in proptest::option::of("[^\r\n\0]*"),
            event in proptest::option::of("[^\r\n]*"),
            data in "[^\r]*",
            retry in proptest::option::of(any::<u32>()),
        ) {
            let retry = retry.map(|millis| Duration::from_millis(millis.into()));
            let mut frame = Frame::of(data.as_bytes());
            frame = id.as_deref().map_or(frame, |id| frame.with_id(id));
            frame = event.as_deref().map_or(frame, |event| frame.with_event(event));
            frame = retry.map_or(frame, |retry| frame.with_retry(retry));
            let mut stream = Vec::new();
            frame.append_to(&mut stream);
            let event = event.map(|event| event.replace('\0', ""));
            prop_assert_eq!(read(&stream), [Event { id, event, data, retry }]);
        }
    }
}
