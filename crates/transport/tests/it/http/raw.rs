//! A client of HTTP/1.1 that sends exactly the bytes of the test.

use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::recorder::TIMEOUT;

/// A connection, and the bytes that were read but not returned yet.
pub(super) struct Raw<I = TcpStream> {
    pub(super) io: I,
    read: Vec<u8>,
}

impl Raw {
    pub(super) async fn connect(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }
}

impl<I: AsyncRead + AsyncWrite + Unpin> Raw<I> {
    pub(super) fn over(io: I) -> Self {
        Self {
            io,
            read: Vec::new(),
        }
    }

    pub(super) async fn send(&mut self, text: &str) {
        self.io.write_all(text.as_bytes()).await.unwrap();
        self.io.flush().await.unwrap();
    }

    pub(super) async fn get(&mut self, path: &str) {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n"))
            .await;
    }

    /// Sends a request and reads the response: its status and body.
    pub(super) async fn ask(&mut self, path: &str) -> (u16, String) {
        self.get(path).await;
        self.answer().await
    }

    /// Reads a response with a content length.
    pub(super) async fn answer(&mut self) -> (u16, String) {
        let head = self.head().await;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map_or(0, |length| length.parse().unwrap());
        while self.read.len() < length {
            assert!(self.more().await, "the body is cut off");
        }
        let body = self.read.drain(..length).collect();
        (status(&head), String::from_utf8(body).unwrap())
    }

    /// Reads the head of a response.
    pub(super) async fn head(&mut self) -> String {
        self.until("\r\n\r\n").await
    }

    /// Reads up to and including this text.
    pub(super) async fn until(&mut self, text: &str) -> String {
        loop {
            let found = self
                .read
                .windows(text.len())
                .position(|part| part == text.as_bytes());
            if let Some(at) = found {
                let bytes = self.read.drain(..at + text.len()).collect();
                return String::from_utf8(bytes).unwrap();
            }
            let is_open = self.more().await;
            assert!(
                is_open,
                "closed before {text:?}: {}",
                self.read.escape_ascii()
            );
        }
    }

    /// Reads to the end, and returns the rest.
    pub(super) async fn rest(&mut self) -> String {
        while self.more().await {}
        String::from_utf8_lossy(&std::mem::take(&mut self.read)).into_owned()
    }

    /// Reads the available bytes. Returns whether the connection is still open.
    async fn more(&mut self) -> bool {
        let read = timeout(TIMEOUT, self.io.read_buf(&mut self.read)).await;
        // A connection that was cut off may also be reset.
        read.expect("something comes, or the end").unwrap_or(0) > 0
    }
}

pub(super) fn status(head: &str) -> u16 {
    head.get(9..12)
        .and_then(|status| status.parse().ok())
        .unwrap()
}
