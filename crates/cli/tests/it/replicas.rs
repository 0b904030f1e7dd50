//! `--redis`: processes that share their sessions, and end in order.

#![cfg(unix)]

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod clock;
mod failover;
#[cfg(target_os = "linux")]
mod scarce;
mod tokens;

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    os::unix::net::UnixStream,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::program::{BINARY, Place, TIMEOUT, eventually, stderr};

/// A separate Redis server, until it is dropped.
struct Redis {
    child: Child,
    url: String,
}

impl Redis {
    /// Starts one that writes nothing to disk.
    fn start(place: &Place) -> Self {
        Self::start_saving(place, "")
    }

    /// Starts one with this setting for saving to disk.
    fn start_saving(place: &Place, save: &str) -> Self {
        let socket = place.file("redis.sock");
        let child = Command::new("redis-server")
            .args(["--port", "0", "--save", save, "--unixsocket", &socket])
            .current_dir(place.path())
            .stdout(Stdio::null())
            .spawn()
            .expect("`redis-server` is installed; `./scripts/test redis` installs it");
        let redis = Self {
            child,
            url: format!("unix://{socket}"),
        };
        eventually("redis-server listens", || UnixStream::connect(&socket).ok());
        redis
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A process of the binary that serves, until it is dropped.
struct Replica {
    child: Child,
    host: String,
    said: Arc<Mutex<String>>,
}

impl Replica {
    fn start(place: &Place, redis: &str, words: &[&str]) -> Self {
        Self::spawn(place.command(BINARY), redis, words)
    }

    /// Starts a replica with a command and these arguments.
    fn spawn(mut command: Command, redis: &str, words: &[&str]) -> Self {
        let (before, after) = match words.iter().position(|word| *word == "--") {
            Some(place) => words.split_at(place),
            None => (words, &[][..]),
        };
        command.args(before);
        command.args(["--listen", "127.0.0.1:0", "--redis", redis]);
        command.args(["--secret-file", "secret"]).args(after);
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let found = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let rest = &line[line.find("http://")? + "http://".len()..];
            Some(rest.split_once("/mcp")?.0.to_owned())
        });
        // Its later output must be read, or it would block.
        let said = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut said = kept.lock().expect("nothing panics");
                said.push_str(&line);
                said.push('\n');
            }
        });
        let host = found.expect("it says where it is");
        Self { child, host, said }
    }

    /// The output since it began to listen.
    fn said(&self) -> String {
        self.said.lock().expect("nothing panics").clone()
    }

    fn terminate(&self) {
        self.signal("-TERM");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status();
        assert!(sent.expect("`kill` is there").success());
    }

    fn ended(&mut self) -> ExitStatus {
        eventually("the process ends", || {
            self.child.try_wait().expect("it can be waited for")
        })
    }

    /// Opens a session, and returns its id.
    fn open_session(&self) -> String {
        self.open_session_with(&json!({}))
    }

    /// Opens a session of a client with these capabilities, and returns its id.
    fn open_session_with(&self, capabilities: &Value) -> String {
        let mut opened = self.post(None, &initialize(capabilities));
        opened.until("\r\n\r\n");
        let session = opened.text.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            let is_session = name.eq_ignore_ascii_case("mcp-session-id");
            is_session.then(|| value.to_owned())
        });
        session.expect("a session")
    }

    /// Posts a message of a session, or of no session yet.
    fn post(&self, session: Option<&str>, message: &Value) -> Answer {
        let headers = session.map_or(String::new(), |id| {
            format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n")
        });
        self.send(&headers, message)
    }

    /// Posts a call of a client of 2026-07-28 and returns its result.
    fn call(&self, params: &Value) -> Value {
        let text = self.call_text(params);
        let start = text
            .find("{\"")
            .unwrap_or_else(|| panic!("no answer in {text}"));
        let end = text.rfind('}').expect("it is JSON");
        let answer: Value = serde_json::from_str(&text[start..=end])
            .unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    /// Posts a call of a client of 2026-07-28 and returns the whole answer.
    fn call_text(&self, params: &Value) -> String {
        let tool = params["name"].as_str().expect("a tool");
        let headers = format!(
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n"
        );
        let message =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        self.send(&headers, &message).whole()
    }

    fn send(&self, headers: &str, message: &Value) -> Answer {
        send(&self.host, headers, message)
    }
}

/// Posts a message with these headers.
fn send(host: &str, headers: &str, message: &Value) -> Answer {
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream
        .set_read_timeout(Some(TIMEOUT))
        .expect("a time is set");
    let body = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         {headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).expect("it is sent");
    Answer {
        stream,
        text: String::new(),
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer while it arrives.
struct Answer {
    stream: TcpStream,
    text: String,
}

impl Answer {
    /// Reads until the text contains `part`.
    fn until(&mut self, part: &str) {
        let mut bytes = [0; 4096];
        while !self.text.contains(part) {
            let read = self.stream.read(&mut bytes).expect("it comes in time");
            assert_ne!(read, 0, "no `{part}` in `{}`", self.text);
            self.text.push_str(&String::from_utf8_lossy(&bytes[..read]));
        }
    }

    /// Reads to the end.
    fn whole(mut self) -> String {
        let read = self.stream.read_to_string(&mut self.text);
        read.expect("it comes in time");
        self.text
    }
}

fn initialize(capabilities: &Value) -> Value {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "raw", "version": "1" },
        },
    })
}

fn call(id: u64, tool: &str, arguments: &Value) -> Value {
    let meta = json!({ "progressToken": id });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Both processes serve a session, and the one that is asked to end finishes its work.
fn one_session_on_two_processes(words: &[&str]) {
    let place = Place::new();
    place.write("secret", "0123456789abcdef0123456789abcdef\n");
    let redis = Redis::start(&place);
    let mut one = Replica::start(&place, &redis.url, words);
    let other = Replica::start(&place, &redis.url, words);
    let session = one.open_session();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let taken = other.post(Some(&session), &ready).whole();
    assert!(taken.starts_with("HTTP/1.1 202"), "{taken}");
    for (id, replica) in [(1, &other), (2, &one)] {
        let echo = call(id, "echo", &json!({ "text": "hello there" }));
        let echoed = replica.post(Some(&session), &echo).whole();
        assert!(echoed.contains("hello there"), "{echoed}");
    }
    let count = call(3, "count", &json!({ "to": 3, "pause": 200 }));
    let mut counted = one.post(Some(&session), &count);
    counted.until("counted 1");
    one.terminate();
    let counted = counted.whole();
    assert!(counted.contains("counted to 3"), "{counted}");
    assert!(one.ended().success());
    let echo = call(4, "echo", &json!({ "text": "still here" }));
    let echoed = other.post(Some(&session), &echo).whole();
    assert!(echoed.contains("still here"), "{echoed}");
}

#[test]
fn sessions_of_a_server_with_its_page_outlive_its_process() {
    one_session_on_two_processes(&["serve"]);
}

#[test]
fn sessions_of_a_server_outlive_its_process() {
    one_session_on_two_processes(&["serve", "--no-page"]);
}

#[test]
fn sessions_of_a_gateway_with_its_page_outlive_its_process() {
    one_session_on_two_processes(&["up", "--", BINARY, "serve", "--stdio"]);
}

#[test]
fn sessions_of_a_gateway_outlive_its_process() {
    one_session_on_two_processes(&["up", "--no-page", "--", BINARY, "serve", "--stdio"]);
}

/// A call that waits at one replica for the client's answer gets it through the other replica.
#[test]
fn a_call_that_waits_at_one_gateway_is_answered_through_another() {
    let place = Place::new();
    place.write("secret", "0123456789abcdef0123456789abcdef");
    let redis = Redis::start(&place);
    let words = [
        "up",
        "--no-page",
        "--era",
        "legacy",
        "--",
        BINARY,
        "serve",
        "--stdio",
    ];
    let mut one = Replica::start(&place, &redis.url, &words);
    let other = Replica::start(&place, &redis.url, &words);
    let params = json!({
        "name": "greet", "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        },
    });
    let answered = |asked: &Value, name: &str| {
        let key = asked["inputRequests"]
            .as_object()
            .and_then(|all| all.keys().next());
        let mut retry = params.clone();
        retry["requestState"] = asked["requestState"].clone();
        retry["inputResponses"] = json!({
            key.expect("a question"): {
                "action": "accept", "content": { "name": name, "tone": "plain" },
            },
        });
        retry
    };
    let asked = one.call(&params);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let greeted = other.call(&answered(&asked, "Ada"));
    assert_eq!(greeted["content"][0]["text"], "Hello, Ada!", "{greeted}");
    // A call whose replica has ended fails with that reason, and does not hang.
    let asked = one.call(&params);
    one.child.kill().expect("it is killed");
    one.ended();
    let lost = other.call_text(&answered(&asked, "Eve"));
    assert!(lost.contains("has ended"), "{lost}");
}

/// A task of a client of 2025-11-25 runs in a process of one gateway, and all gateways know it.
#[test]
fn a_task_at_one_gateway_is_known_to_another() {
    let place = Place::new();
    let redis = Redis::start(&place);
    for era in ["legacy", "modern"] {
        let words = [
            "up",
            "--no-page",
            "--era",
            era,
            "--",
            BINARY,
            "serve",
            "--stdio",
        ];
        let site = failover::Site::start_with(&redis.url, &words);
        let task = eventually("a task begins", || site.bake(1, 300).ok());
        site.baked(2, &task);
        site.baked(0, &task);
    }
}

/// A replica that is stopped (SIGSTOP) answers nothing, but has not left.
#[test]
fn a_stopped_replica_holds_up_no_other_and_goes_on_later() {
    let place = Place::new();
    place.write("secret", "0123456789abcdef0123456789abcdef");
    let redis = Redis::start(&place);
    for words in [
        &["serve", "--no-page"][..],
        &["up", "--no-page", "--", BINARY, "serve", "--stdio"],
    ] {
        let one = Replica::start(&place, &redis.url, words);
        let other = Replica::start(&place, &redis.url, words);
        let session = one.open_session();
        one.signal("-STOP");
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let taken = other.post(Some(&session), &ready).whole();
        assert!(taken.starts_with("HTTP/1.1 202"), "{taken}");
        let echo = |id, replica: &Replica| {
            let echo = call(id, "echo", &json!({ "text": "hello there" }));
            let echoed = replica.post(Some(&session), &echo).whole();
            assert!(echoed.contains("hello there"), "{echoed}");
        };
        echo(1, &other);
        // The other replicas are notified, but the stopped one does not confirm it.
        let level = json!({ "level": "debug" });
        let level =
            json!({ "jsonrpc": "2.0", "id": 2, "method": "logging/setLevel", "params": level });
        let set = other.post(Some(&session), &level).whole();
        assert!(set.contains("\"result\""), "{set}");
        echo(3, &other);
        one.signal("-CONT");
        echo(4, &one);
        echo(5, &other);
    }
}

#[test]
fn what_replicas_lack_is_named() {
    let place = Place::new();
    let lone = place.run(&["serve", "--secret-file", "secret"]);
    assert!(stderr(&lone).contains("need `--redis`"));
    let redis = ["serve", "--redis", "unix:///nowhere"];
    let open = place.run(&redis);
    assert!(stderr(&open).contains("`--secret-file` or `TURNBUCKLE_SECRET`"));
    let unread = place.run(&[&redis[..], &["--secret-file", "none"]].concat());
    assert!(stderr(&unread).contains("cannot read `none`"));
    place.write("secret", "0123456789abcdef0123456789abcdef");
    let away = place.run(&[&redis[..], &["--secret-file", "secret"]].concat());
    assert!(!away.status.success(), "{}", stderr(&away));
}
