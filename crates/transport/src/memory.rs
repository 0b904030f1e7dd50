//! Two connected ends in one process, for tests and for servers built into their client.

use tokio::io::{DuplexStream, ReadHalf, WriteHalf, split};

/// 64 KiB in each direction, the capacity of a pipe: code that would deadlock on a pipe does so here.
const DUPLEX_BYTES: usize = 64 * 1024;

/// One end of an in-memory connection.
///
/// Dropping both halves, or shutting down the writer, ends the input of the other end.
#[derive(Debug)]
pub struct Duplex {
    /// Reads the bytes that the other end writes.
    pub reader: ReadHalf<DuplexStream>,
    /// Writes the bytes that the other end reads.
    pub writer: WriteHalf<DuplexStream>,
}

/// Creates two connected ends; drive each with [`run`](crate::run).
pub fn duplex() -> (Duplex, Duplex) {
    let (one, other) = tokio::io::duplex(DUPLEX_BYTES);
    (Duplex::of(one), Duplex::of(other))
}

impl Duplex {
    fn of(stream: DuplexStream) -> Self {
        let (reader, writer) = split(stream);
        Self { reader, writer }
    }
}
