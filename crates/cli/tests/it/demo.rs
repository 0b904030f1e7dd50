//! `turnbuckle serve --stdio`, driven line by line.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How long any step may take: far more than it needs, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How many unread lines are kept: more than any of these tests produces.
const WAITING_LINES: usize = 10_000;

/// A running demo server.
pub(crate) struct Demo {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    stderr: Option<JoinHandle<String>>,
}

/// What remained when a demo server ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// Messages on stdout that were not read before.
    pub(crate) messages: Vec<Value>,
    pub(crate) stderr: String,
}

impl Demo {
    pub(crate) fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_turnbuckle"))
            .args(["serve", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the demo server starts");
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut stderr = child.stderr.take().expect("it is piped");
        let (sender, lines) = sync_channel(WAITING_LINES);
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let _ = sender.send(line.expect("stdout is UTF-8"));
            }
        });
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            stderr.read_to_string(&mut text).expect("stderr is UTF-8");
            text
        });
        let stdin = child.stdin.take();
        Self {
            child,
            stdin,
            lines,
            stderr: Some(stderr),
        }
    }

    /// Starts a server and opens a legacy session.
    pub(crate) fn initialized() -> Self {
        let mut demo = Self::start();
        demo.request("initialize", &initialize("2025-11-25"));
        demo.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        demo
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        self.send_text(&format!("{line}\n"));
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().expect("the input is open");
        stdin.write_all(text.as_bytes()).expect("the server reads");
    }

    /// The next message, of any kind.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self
            .lines
            .recv_timeout(TIMEOUT)
            .expect("a message comes in time");
        parse(&line)
    }

    /// Sends a request, and returns the next message, which must be its response.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        let response = self.receive();
        assert_eq!(response["id"], 1, "{response}");
        response
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.request(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Ends the input, and waits for the process to end.
    pub(crate) fn finish(mut self) -> Ended {
        self.stdin = None;
        self.wait()
    }

    /// Waits for the process to end.
    pub(crate) fn wait(mut self) -> Ended {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it can be waited for") {
                break status;
            }
            assert!(start.elapsed() < TIMEOUT, "the process does not end");
            std::thread::sleep(Duration::from_millis(5));
        };
        let messages = self.lines.iter().map(|line| parse(&line)).collect();
        let stderr = self.stderr.take().expect("it is waited for once");
        Ended {
            status,
            messages,
            stderr: stderr.join().expect("stderr was read"),
        }
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // If a test fails, no process remains; errors for a process that has already ended are
        // ignored.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The params of `initialize`.
pub(crate) fn initialize(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1.0.0" },
    })
}

/// The `_meta` that every modern request has.
pub(crate) fn modern() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

fn parse(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} on stdout: {line}"))
}
