//! Records every message between a client and a server, as data.

use std::{fmt, sync::Arc};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use turnbuckle_base::lock::Mutex;
use turnbuckle_server::LiveServer;
use turnbuckle_transport::{Duplex, duplex};

/// The sender of a message: client or server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// One message between client and server.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Who sent it.
    pub from: Side,
    /// The message; a line that is not JSON is kept as a string.
    pub message: Value,
}

/// The messages that have passed so far. Cheap to clone; all clones see the same messages.
#[derive(Clone, Debug, Default)]
pub struct Recorded(Arc<Mutex<Vec<Line>>>);

impl Recorded {
    /// Every message so far, in order.
    pub fn lines(&self) -> Vec<Line> {
        self.0.lock().clone()
    }

    fn push(&self, from: Side, text: &str) {
        let message = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        self.0.lock().push(Line { from, message });
    }
}

impl fmt::Display for Recorded {
    /// Writes the form of a [`Transcript`](crate::Transcript): `>` before messages of the client, `<` before
    /// those of the server.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.lines() {
            let mark = match line.from {
                Side::Client => '>',
                Side::Server => '<',
            };
            writeln!(f, "{mark} {}", line.message)?;
        }
        Ok(())
    }
}

/// Opens an in-process connection to a server, and records all its messages.
///
/// Must be called inside a runtime.
pub fn record(server: &LiveServer) -> (Duplex, Recorded) {
    let recorded = Recorded::default();
    let inside = server.connect();
    let (near, far) = duplex();
    tokio::spawn(pass(
        far.reader,
        inside.writer,
        Side::Client,
        recorded.clone(),
    ));
    tokio::spawn(pass(
        inside.reader,
        far.writer,
        Side::Server,
        recorded.clone(),
    ));
    (near, recorded)
}

/// Passes on lines until one end is closed.
async fn pass(
    from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    side: Side,
    recorded: Recorded,
) {
    let mut from = BufReader::new(from);
    let mut line = String::new();
    while from.read_line(&mut line).await.is_ok_and(|count| count > 0) {
        recorded.push(side, line.trim_end());
        if to.write_all(line.as_bytes()).await.is_err() {
            break;
        }
        line.clear();
    }
    // Tells the other end that no more lines come.
    let _ = to.shutdown().await;
}
