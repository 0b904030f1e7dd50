//! Runs handlers that ask again at every pause, to prove that they ask the same questions.
//!
//! With a client of 2026-07-28, a handler that asks is dropped and later run again, perhaps on another
//! machine. Its questions must not depend on when or where it runs. So a relay between the client and
//! the server sends each call again without an answer before the client sees the question, and passes
//! on answers one at a time. Everything else is relayed unchanged.

use std::{fmt, sync::Arc};

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::mpsc,
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_server::LiveServer;
use turnbuckle_transport::{Duplex, duplex};

use crate::flight::{Flights, Next};

/// Lines on their way to the server: more than a test has calls at one time.
const QUEUE: usize = 1024;

/// A message for the task that writes to the server.
enum Outgoing {
    Line(String),
    /// The client has closed its side.
    End,
}

/// The handlers that asked something else when they ran again. Cheap to clone; all clones share the list.
#[derive(Clone, Debug, Default)]
pub struct Differences(Arc<Mutex<Vec<String>>>);

impl Differences {
    /// The problems that were found so far.
    pub fn list(&self) -> Vec<String> {
        self.0.lock().clone()
    }

    /// Asserts that every handler asked the same questions each time it ran.
    ///
    /// # Panics
    /// If a handler asked different questions.
    #[track_caller]
    pub fn assert_none(&self) {
        assert!(self.list().is_empty(), "{self}");
    }

    fn add(&self, difference: &str) {
        let mut differences = self.0.lock();
        differences.push(difference.to_owned());
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.list().join("\n"))
    }
}

/// Opens an in-process connection to a server on which every handler that asks is run again at each pause, and
/// gets its answers one at a time. If a handler asks something else, its call fails.
///
/// [`connect`](crate::connect) and [`every_revision!`](crate::every_revision) use it; `every_revision!`
/// also fails the test. Must be called inside a runtime.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = turnbuckle_server::Server::new("booking", "1.0.0").build()?;
/// let (end, differences) = turnbuckle_testing::reenter(&server);
/// let client = turnbuckle_client::Client::new("test", "1.0.0").connect(end).await?;
/// // … calls …
/// differences.assert_none();
/// # Ok(())
/// # }
/// ```
pub fn reenter(server: &LiveServer) -> (Duplex, Differences) {
    let differences = Differences::default();
    let inside = server.connect();
    let (near, far) = duplex();
    let (to_server, queue) = mpsc::channel(QUEUE);
    let flights = Arc::new(Mutex::new(Flights::default()));
    tokio::spawn(write(queue, inside.writer));
    tokio::spawn(outward(far.reader, to_server.clone(), Arc::clone(&flights)));
    let inward = Inward {
        to_server,
        flights,
        differences: differences.clone(),
    };
    tokio::spawn(inward.pass(inside.reader, far.writer));
    (near, differences)
}

async fn write(mut queue: mpsc::Receiver<Outgoing>, mut server: impl AsyncWrite + Unpin) {
    while let Some(Outgoing::Line(line)) = queue.recv().await {
        if server.write_all(line.as_bytes()).await.is_err() {
            break;
        }
    }
    // Tells the server that no more lines come.
    let _ = server.shutdown().await;
}

/// Passes on messages from the client to the server.
async fn outward(
    client: impl AsyncRead + Unpin,
    server: mpsc::Sender<Outgoing>,
    flights: Arc<Mutex<Flights>>,
) {
    let mut client = BufReader::new(client);
    let mut line = String::new();
    while client
        .read_line(&mut line)
        .await
        .is_ok_and(|count| count > 0)
    {
        let changed = serde_json::from_str(&line)
            .ok()
            .and_then(|message| flights.lock().take_off(message));
        let next = changed.map_or_else(|| line.clone(), |message| text(&message));
        if server.send(Outgoing::Line(next)).await.is_err() {
            return;
        }
        line.clear();
    }
    // The writer may have ended already.
    let _ = server.send(Outgoing::End).await;
}

/// Passes on messages from the server to the client, or sends calls to the server again.
struct Inward {
    to_server: mpsc::Sender<Outgoing>,
    flights: Arc<Mutex<Flights>>,
    differences: Differences,
}

impl Inward {
    async fn pass(self, server: impl AsyncRead + Unpin, mut client: impl AsyncWrite + Unpin) {
        let mut server = BufReader::new(server);
        let mut line = String::new();
        while server
            .read_line(&mut line)
            .await
            .is_ok_and(|count| count > 0)
        {
            let next = serde_json::from_str(&line)
                .ok()
                .and_then(|message| self.flights.lock().land(message));
            let delivered = match next {
                None => client.write_all(line.as_bytes()).await,
                Some(Next::Deliver(message)) => client.write_all(text(&message).as_bytes()).await,
                Some(Next::Differs(message, difference)) => {
                    self.differences.add(&difference);
                    client.write_all(text(&message).as_bytes()).await
                }
                Some(Next::Send(message)) => {
                    // If the server accepts no more messages, it tells the client itself.
                    let _ = self.to_server.send(Outgoing::Line(text(&message))).await;
                    Ok(())
                }
            };
            if delivered.is_err() {
                break;
            }
            line.clear();
        }
        let _ = client.shutdown().await;
    }
}

fn text(message: &Value) -> String {
    format!("{message}\n")
}
