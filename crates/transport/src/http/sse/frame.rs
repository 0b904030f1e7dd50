//! Encodes events.

use std::time::Duration;

use bytes::BufMut;

/// The media type of a stream of events.
pub const CONTENT_TYPE: &str = "text/event-stream";

/// A comment that shows that a silent stream is still alive. Readers skip it.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// An event to be encoded, with borrowed parts.
///
/// ```
/// use turnbuckle_transport::http::sse::Frame;
///
/// let mut out = Vec::new();
/// Frame::of(b"{}").append_to(&mut out);
/// assert_eq!(out, b"data: {}\n\n");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame<'a> {
    id: Option<&'a str>,
    event: Option<&'a str>,
    data: &'a [u8],
    retry: Option<Duration>,
}

impl<'a> Frame<'a> {
    /// Creates an event with this data, in UTF-8. Each of its lines becomes a line of data.
    pub fn of(data: &'a [u8]) -> Self {
        Self {
            data,
            ..Self::default()
        }
    }

    /// Sets the event id, from which the stream can be resumed.
    ///
    /// Line ends and NUL are removed, because readers would misinterpret them.
    pub fn with_id(mut self, id: &'a str) -> Self {
        self.id = Some(id);
        self
    }

    /// Sets a kind of event other than `message`. Line ends are removed.
    pub fn with_event(mut self, event: &'a str) -> Self {
        self.event = Some(event);
        self
    }

    /// Sets how long to wait before reconnecting, in whole milliseconds.
    pub fn with_retry(mut self, retry: Duration) -> Self {
        self.retry = Some(retry);
        self
    }

    /// Appends the event to `out`.
    pub fn append_to(&self, out: &mut impl BufMut) {
        if let Some(event) = self.event {
            append_field(out, b"event: ", event);
        }
        if let Some(id) = self.id {
            append_field(out, b"id: ", id);
        }
        if let Some(retry) = self.retry {
            append_field(out, b"retry: ", &retry.as_millis().to_string());
        }
        append_data(out, self.data);
        out.put_u8(b'\n');
    }
}

fn append_field(out: &mut impl BufMut, name: &[u8], value: &str) {
    out.put_slice(name);
    for part in value.split(['\r', '\n', '\0']) {
        out.put_slice(part.as_bytes());
    }
    out.put_u8(b'\n');
}

fn append_data(out: &mut impl BufMut, mut data: &[u8]) {
    loop {
        out.put_slice(b"data: ");
        let Some(at) = memchr::memchr2(b'\r', b'\n', data) else {
            out.put_slice(data);
            out.put_u8(b'\n');
            return;
        };
        let (line, rest) = data.split_at(at);
        out.put_slice(line);
        out.put_u8(b'\n');
        let end = if rest.starts_with(b"\r\n") { 2 } else { 1 };
        data = rest.get(end..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(frame: Frame<'_>) -> String {
        let mut out = Vec::new();
        frame.append_to(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_message_is_one_line_of_data() {
        assert_eq!(written(Frame::of(br#"{"a":1}"#)), "data: {\"a\":1}\n\n");
    }

    #[test]
    fn every_field_has_its_line() {
        let frame = Frame::of(b"x")
            .with_id("s/1")
            .with_event("endpoint")
            .with_retry(Duration::from_millis(1500));
        assert_eq!(
            written(frame),
            "event: endpoint\nid: s/1\nretry: 1500\ndata: x\n\n"
        );
    }

    #[test]
    fn a_priming_event_has_an_id_and_nothing_to_say() {
        assert_eq!(written(Frame::of(b"").with_id("0")), "id: 0\ndata: \n\n");
    }

    #[test]
    fn each_line_of_data_is_a_line_of_data() {
        assert_eq!(
            written(Frame::of(b"a\nb\r\nc\rd\n")),
            "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"
        );
    }

    #[test]
    fn fields_cannot_be_forged() {
        let frame = Frame::of(b"x")
            .with_id("1\ndata: y\r\0")
            .with_event("a\r\nb");
        assert_eq!(written(frame), "event: ab\nid: 1data: y\ndata: x\n\n");
    }
}
