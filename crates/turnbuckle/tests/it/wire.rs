//! A client that sends and reads plain JSON lines, so that these tests see the messages of the server as they are.

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines},
    task::JoinHandle,
};
use turnbuckle::{ServeError, Server, Streams};

/// The capacity of the pipe in each direction, in bytes: more than any message of these tests.
const PIPE_BYTES: usize = 64 * 1024;

/// A connection whose handshake is done.
pub(crate) struct Wire {
    write: DuplexStream,
    read: Lines<BufReader<DuplexStream>>,
    server: JoinHandle<Result<(), ServeError>>,
    last: u64,
}

impl Wire {
    /// Serves the server in the background and initialises the connection.
    pub(crate) async fn open(server: Server) -> Self {
        let (write, server_read) = tokio::io::duplex(PIPE_BYTES);
        let (server_write, read) = tokio::io::duplex(PIPE_BYTES);
        let server = tokio::spawn(server.serve(Streams::new(server_read, server_write)));
        let mut wire = Self {
            write,
            read: BufReader::new(read).lines(),
            server,
            last: 0,
        };
        let client = json!({ "name": "test", "version": "1" });
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client
        });
        wire.request("initialize", params).await;
        wire.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
            .await;
        wire
    }

    /// The result of a request, or its error object.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        self.send(&request).await;
        let line = self
            .read
            .next_line()
            .await
            .expect("the pipe is open")
            .expect("an answer");
        let mut answer: Value = serde_json::from_str(&line).expect("answers are JSON");
        assert_eq!(answer["id"], self.last, "{line}");
        match answer["result"].take() {
            Value::Null => answer["error"].take(),
            result => result,
        }
    }

    /// The text of a tool's result.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> String {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.request("tools/call", params).await;
        result["content"][0]["text"]
            .as_str()
            .map_or_else(|| result.to_string(), str::to_owned)
    }

    /// Ends the connection; the server must end without an error.
    pub(crate) async fn close(self) {
        drop((self.write, self.read));
        self.server
            .await
            .expect("the server does not panic")
            .expect("the server ends in peace");
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.write
            .write_all(line.as_bytes())
            .await
            .expect("the pipe is open");
    }
}
