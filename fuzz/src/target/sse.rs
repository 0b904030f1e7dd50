//! Server-sent events: the events are the same however the stream is split, and a written event
//! is parsed back.

use turnbuckle_transport::http::sse::{Decoder, Event, Frame};

use super::Target;

/// A small limit, so that inputs reach it.
const MAX_EVENT_BYTES: usize = 64;

pub const TARGET: Target = Target {
    name: "sse",
    run,
    seeds: &[
        b"\x05data: a\r\ndata: b\n\nid: 7\revent: x\rretry: 10\r\r",
        b"\x01\xef\xbb\xbf: comment\n\ndata\n\n",
        b"\x03id: \0\ndata:  two spaces\n\n\n\n",
    ],
    words: &[
        "data:", "id:", "event:", "retry:", "\r\n", "\n\n", "\r", "\u{feff}", ":",
    ],
    is_planted: false,
};

fn run(input: &[u8]) {
    let Some((&step, stream)) = input.split_first() else {
        return;
    };
    let mut whole = Vec::new();
    let all = decoder().feed(stream, &mut whole).is_ok();
    let mut pieces = Vec::new();
    let mut in_pieces = decoder();
    let step = usize::from(step).max(1);
    let fed = stream
        .chunks(step)
        .all(|piece| in_pieces.feed(piece, &mut pieces).is_ok());
    assert_eq!(whole, pieces, "the same events in pieces of {step} bytes");
    assert_eq!(all, fed, "the same verdict in pieces of {step} bytes");
    for event in &whole {
        written_is_read(event);
    }
}

fn decoder() -> Decoder {
    Decoder::new().with_max_event_bytes(MAX_EVENT_BYTES)
}

fn written_is_read(event: &Event) {
    let mut frame = Frame::of(event.data.as_bytes());
    let id = event.id.clone().unwrap_or_default();
    if event.id.is_some() {
        frame = frame.with_id(&id);
    }
    // An event of MCP has one line of data.
    if event.data.contains(['\n', '\r']) || event.data.is_empty() {
        return;
    }
    let mut out = Vec::new();
    frame.append_to(&mut out);
    let mut events = Vec::new();
    Decoder::new().feed(&out, &mut events).expect("it is small");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].data, event.data);
    assert_eq!(events[0].id, event.id);
}
