//! The response to a connection beyond the limit.
//!
//! This is better than to leave the client waiting: it, or the load balancer in front of the server,
//! knows at once that it should use another server or retry later.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::preface::Protocol;

/// 2 s: enough for a request and its refusal over a slow line.
pub(super) const REFUSAL_TIME: Duration = Duration::from_secs(2);

/// 64 KiB: how much of the refused request is read, so that closing does not reset the connection
/// before the client has read the response.
const DRAINED_BYTES: u64 = 64 * 1024;

const REASON: &str = "connection limit of this server reached; try again later\n";

/// Refuses a new connection because the limit is reached, and closes it.
pub(super) async fn refuse(mut stream: impl AsyncRead + AsyncWrite + Unpin, protocol: Protocol) {
    let answer = match protocol {
        Protocol::Http1 => http1(),
        Protocol::Http2 => http2(),
    };
    // If the client has closed the connection, the response is lost.
    let _ = stream.write_all(&answer).await;
    let _ = stream.shutdown().await;
    let _ = tokio::io::copy(&mut stream.take(DRAINED_BYTES), &mut tokio::io::sink()).await;
}

fn http1() -> Vec<u8> {
    format!(
        "HTTP/1.1 503 Service Unavailable\r\n\
         connection: close\r\n\
         retry-after: 1\r\n\
         content-type: text/plain\r\n\
         content-length: {}\r\n\r\n{REASON}",
        REASON.len()
    )
    .into_bytes()
}

/// Empty settings, then GOAWAY, which says that no request was accepted: it is safe to try again.
fn http2() -> Vec<u8> {
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const GO_AWAY: u8 = 7;
    const LAST_STREAM: [u8; 4] = [0; 4];
    const ENHANCE_YOUR_CALM: [u8; 4] = [0, 0, 0, 0xb];
    let length = u8::try_from(LAST_STREAM.len() + ENHANCE_YOUR_CALM.len() + REASON.len());
    let length = length.expect("the reason is a short constant");
    let head = [0, 0, length, GO_AWAY, 0, 0, 0, 0, 0];
    [
        &SETTINGS[..],
        &head,
        &LAST_STREAM,
        &ENHANCE_YOUR_CALM,
        REASON.as_bytes(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farewell_of_http2_is_a_frame() {
        let bytes = http2();
        let payload = usize::from(bytes[11]);
        assert_eq!(bytes.len(), 9 + 9 + payload);
        assert!(bytes.ends_with(REASON.as_bytes()));
    }
}
