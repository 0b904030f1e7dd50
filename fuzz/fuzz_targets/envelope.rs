//! The parser of the envelope: any bytes get a verdict, and what was read can be written again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use turnbuckle_protocol::envelope::{
    Frame, Message, RequestMeta, parse, write_raw_response, write_request,
};

fuzz_target!(|bytes: &[u8]| {
    match parse(bytes) {
        Ok(Frame::One(message)) => check(&message),
        Ok(Frame::Batch(members)) => members.iter().flatten().for_each(check),
        Err(malformed) => {
            let _ = malformed.kind.code();
        }
    }
});

fn check(message: &Message<'_>) {
    let mut out = Vec::new();
    match message {
        Message::Request(request) => {
            if let Some(meta) = request.params.get("_meta").and_then(RequestMeta::from_raw) {
                let _ = (meta.version(), meta.token());
            }
            let params = request.params.to_raw();
            write_request(&mut out, &request.id, &request.method, &params).expect("writes");
        }
        Message::Response(response) => {
            let Some(id) = &response.id else { return };
            write_raw_response(&mut out, id, response.outcome);
        }
        Message::Notification(_) => return,
    }
    assert!(parse(&out).is_ok(), "what was read is written so that it can be read again");
}
