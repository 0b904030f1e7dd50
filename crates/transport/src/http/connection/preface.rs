//! The first bytes of a connection, which distinguish HTTP/2 from HTTP/1.1.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

/// The first bytes of a client with prior knowledge of HTTP/2; RFC 9113, 3.4.
const HTTP2: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The version of HTTP of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// Bytes that were read for detection and must still be passed on.
#[derive(Debug, Default)]
pub(super) struct Preface {
    bytes: [u8; HTTP2.len()],
    from: usize,
    to: usize,
}

impl Preface {
    /// Reads until the version of HTTP is clear. The first different byte makes it clear, so this never
    /// waits for bytes that a client does not send.
    ///
    /// Returns `None` if the peer sends nothing.
    pub(super) async fn read(
        stream: &mut (impl AsyncRead + Unpin),
    ) -> io::Result<Option<(Protocol, Self)>> {
        let mut preface = Self::default();
        loop {
            let read = stream.read(&mut preface.bytes[preface.to..]).await?;
            if read == 0 {
                return Ok(None);
            }
            preface.to += read;
            if !HTTP2.starts_with(&preface.bytes[..preface.to]) {
                return Ok(Some((Protocol::Http1, preface)));
            }
            if preface.to == HTTP2.len() {
                return Ok(Some((Protocol::Http2, preface)));
            }
        }
    }

    /// Copies the remaining bytes into the buffer, as far as they fit. Returns whether there were any.
    pub(super) fn pour(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let left = &self.bytes[self.from..self.to];
        let count = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..count]);
        self.from += count;
        count > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn protocol_of(mut bytes: &[u8]) -> Option<Protocol> {
        let found = Preface::read(&mut bytes).await.unwrap();
        found.map(|(protocol, _)| protocol)
    }

    #[tokio::test]
    async fn the_first_bytes_tell() {
        assert_eq!(
            protocol_of(b"POST / HTTP/1.1\r\n").await,
            Some(Protocol::Http1)
        );
        assert_eq!(
            protocol_of(b"PRI * HTTP/1.1\r\n\r\n").await,
            Some(Protocol::Http1)
        );
        assert_eq!(protocol_of(b"\x16\x03\x01").await, Some(Protocol::Http1));
        assert_eq!(protocol_of(HTTP2).await, Some(Protocol::Http2));
        assert_eq!(protocol_of(b"PRI *").await, None);
        assert_eq!(protocol_of(b"").await, None);
    }

    #[tokio::test]
    async fn what_was_read_is_given_back() {
        let (_, mut preface) = Preface::read(&mut &b"GET /"[..]).await.unwrap().unwrap();
        let mut three = [0; 3];
        let mut rest = [0; 9];
        let mut buffer = ReadBuf::new(&mut three);
        assert!(preface.pour(&mut buffer));
        assert_eq!(buffer.filled(), b"GET");
        let mut buffer = ReadBuf::new(&mut rest);
        assert!(preface.pour(&mut buffer));
        assert!(!preface.pour(&mut buffer));
        assert_eq!(buffer.filled(), b" /");
    }
}
