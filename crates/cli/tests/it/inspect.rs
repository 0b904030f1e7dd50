//! The inspector as a real process, with real HTTP requests, and with the demo server behind it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// How long a step may take: enough for a busy machine, and less than a hang.
const TIMEOUT: Duration = Duration::from_secs(20);

/// An inspector with a server as `s1`.
pub(crate) struct Inspector {
    process: Child,
    port: u16,
    token: String,
}

impl Inspector {
    /// Starts one with the demo server.
    fn start(options: &[&str]) -> Self {
        let binary = env!("CARGO_BIN_EXE_turnbuckle");
        Self::of(options, &[binary, "serve", "--stdio"])
    }

    /// Starts one with the server of this command.
    fn of(options: &[&str], command: &[&str]) -> Self {
        let binary = env!("CARGO_BIN_EXE_turnbuckle");
        let words = [options, &["--"], command].concat();
        let mut process = Command::new(binary);
        process
            .env("PYTHONDONTWRITEBYTECODE", "1")
            // The page lists the servers of config files; those of this machine must not matter here.
            .env("HOME", env!("CARGO_TARGET_TMPDIR"))
            .env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"));
        let inspector = Self::begin(process, &words);
        inspector.until("the server is connected", |inspector| {
            let state = inspector.get("state");
            (state["servers"][0]["status"] == "open").then_some(())
        });
        inspector
    }

    /// Starts one with this command, before it has connected to anything.
    pub(crate) fn begin(mut command: Command, words: &[&str]) -> Self {
        let mut process = command
            .args(["inspect", "--no-open", "--port", "0"])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts");
        let stdout = process.stdout.take().expect("stdout is piped");
        let mut url = String::new();
        BufReader::new(stdout)
            .read_line(&mut url)
            .expect("it prints its URL");
        let (address, token) = url
            .trim()
            .split_once("/#token=")
            .expect("the URL has a key");
        let port = address
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok());
        Self {
            process,
            port: port.expect("the URL has a port"),
            token: token.to_owned(),
        }
    }

    /// Makes a request, and returns the whole answer: status, head and body.
    fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream
            .set_read_timeout(Some(TIMEOUT))
            .expect("a socket has a timeout");
        let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        for (name, value) in headers {
            request.extend([name, ": ", value, "\r\n"]);
        }
        let length = body.len().to_string();
        request.extend(["content-length: ", &length, "\r\n\r\n", body]);
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        (
            status.expect("a head has a status"),
            head.to_owned(),
            body.to_owned(),
        )
    }

    fn api(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let host = format!("127.0.0.1:{}", self.port);
        let key = format!("Bearer {}", self.token);
        let headers = [("host", &*host), ("authorization", &*key)];
        let (status, _, body) = self.ask(method, &format!("/api/{path}"), &headers, body);
        (status, body)
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, body) = self.api("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).expect("it is JSON")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.api("POST", path, &body.to_string());
        assert_eq!(status, 200, "{path}: {answer}");
        serde_json::from_str(&answer).expect("it is JSON")
    }

    fn call(&self, tool: &str, arguments: &Value) -> u64 {
        let params = json!({ "name": tool, "arguments": arguments });
        let wanted = json!({ "method": "tools/call", "params": params });
        let started = self.post("servers/s1/exchanges", &wanted);
        started["exchange"].as_u64().expect("it has a number")
    }

    fn exchange(&self, n: u64) -> Value {
        let state = self.get("state");
        let exchanges = state["exchanges"].as_array().expect("there is a list");
        exchanges
            .iter()
            .find(|one| one["n"] == n)
            .cloned()
            .unwrap_or_default()
    }

    fn exchange_in(&self, n: u64, status: &str) -> Value {
        self.until(status, |inspector| {
            let exchange = inspector.exchange(n);
            (exchange["status"] == status).then_some(exchange)
        })
    }

    pub(crate) fn until<T>(&self, what: &str, look: impl Fn(&Self) -> Option<T>) -> T {
        let since = Instant::now();
        loop {
            if let Some(seen) = look(self) {
                return seen;
            }
            assert!(since.elapsed() < TIMEOUT, "{what}: {}", self.get("state"));
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Inspector {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn strangers_are_turned_away() {
    let inspector = Inspector::start(&[]);
    let own = format!("127.0.0.1:{}", inspector.port);
    let key = format!("Bearer {}", inspector.token);
    let status = |headers: &[(&str, &str)]| inspector.ask("GET", "/api/state", headers, "").0;
    assert_eq!(status(&[("host", &own), ("authorization", &key)]), 200);
    assert_eq!(status(&[("host", &own)]), 401);
    assert_eq!(
        status(&[("host", &own), ("authorization", "Bearer guess")]),
        401
    );
    let rebound = format!("evil.example:{}", inspector.port);
    assert_eq!(status(&[("host", &rebound), ("authorization", &key)]), 403);
    let foreign = ("origin", "https://evil.example");
    assert_eq!(
        status(&[("host", &own), ("authorization", &key), foreign]),
        403
    );
    // The page itself contains no secret, but is not served to other hosts.
    let (status, head, body) = inspector.ask("GET", "/", &[("host", &own)], "");
    assert_eq!(status, 200);
    let head = head.to_ascii_lowercase();
    assert!(
        head.contains("default-src 'none'") && head.contains("frame-ancestors 'none'"),
        "{head}"
    );
    assert!(!body.contains(&inspector.token));
    assert_eq!(inspector.ask("GET", "/", &[("host", &rebound)], "").0, 403);
}

#[test]
fn a_call_its_command_and_its_messages() {
    for (era, revision) in [("modern", "2026-07-28"), ("legacy", "2025-11-25")] {
        let inspector = Inspector::start(&["--era", era]);
        let server = inspector.get("state")["servers"][0].clone();
        assert_eq!(
            (&server["revision"], &server["era"]),
            (&json!(revision), &json!(era))
        );
        assert_eq!(server["transport"], "stdio");
        let offer = inspector.get("servers/s1/offer");
        assert!(
            offer["tools"]
                .as_array()
                .is_some_and(|tools| tools.len() > 5),
            "{offer}"
        );
        let n = inspector.call("add", &json!({ "a": 1, "b": 2 }));
        let done = inspector.exchange_in(n, "done");
        assert_eq!(done["result"]["structuredContent"]["sum"], 3);
        assert_eq!(done["outputCheck"]["ok"], true);
        let command = done["command"].as_str().expect("there is a line");
        assert!(
            command.starts_with("turnbuckle call --era ") && command.contains(" add a=1 b=2 -- "),
            "{command}"
        );
        let rows = inspector.get("wire?server=s1&limit=1000");
        let rows = rows["rows"].as_array().expect("there are rows");
        let own: Vec<&Value> = rows.iter().filter(|row| row["exchange"] == n).collect();
        assert_eq!(own.len(), 2, "{rows:?}");
        assert_eq!(
            (&own[0]["direction"], &own[1]["direction"]),
            (&json!("out"), &json!("in"))
        );
        assert_eq!(own[1]["object"], "add");
        let whole = inspector.get(&format!("wire/{}", own[0]["seq"]));
        assert_eq!(
            whole["message"]["params"]["arguments"],
            json!({ "a": 1, "b": 2 })
        );
    }
}

#[test]
fn lists_are_read_once_and_told_with_the_state() {
    let inspector = Inspector::start(&[]);
    // Requested while the list may still be read.
    let asked = inspector.get("servers/s1/offer");
    let told = inspector.until("the state has the offer", |inspector| {
        let state = inspector.get("state");
        state["offers"]["s1"]
            .is_object()
            .then(|| state["offers"]["s1"].clone())
    });
    assert_eq!(told, asked);
    let requests = |inspector: &Inspector| {
        let rows = inspector.get("wire?limit=1000");
        let rows = rows["rows"].as_array().expect("there are rows").clone();
        let lists = rows.into_iter().filter(|row| {
            row["kind"] == "request"
                && row["method"]
                    .as_str()
                    .is_some_and(|method| method.ends_with("/list"))
        });
        lists.count()
    };
    assert_eq!(requests(&inspector), 4);
    inspector.get("servers/s1/offer");
    assert_eq!(requests(&inspector), 4);
    inspector.get("servers/s1/offer?fresh=1");
    assert_eq!(requests(&inspector), 8);
}

/// A list that changed while it was read is not kept: the next request gets the new list.
#[test]
fn a_list_that_changes_while_it_is_read_is_read_again() {
    let path = crate::doctor::script("faults");
    let path = path.to_str().expect("the path is UTF-8");
    let inspector = Inspector::of(&[], &["python3", path, "restless"]);
    inspector.until("the newer list is there", |inspector| {
        let offer = inspector.get("servers/s1/offer");
        (offer["tools"][0]["name"] == "newer").then_some(())
    });
}

#[test]
fn digits_are_sent_and_shown_as_they_were_typed() {
    let inspector = Inspector::start(&[]);
    let digits = "12345678901234567890.1200";
    let wanted = format!(
        r#"{{"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"x","n":{digits}}}}}}}"#
    );
    let (status, _) = inspector.api("POST", "servers/s1/exchanges", &wanted);
    assert_eq!(status, 200);
    let sent = inspector.until("the message is on the wire", |inspector| {
        let rows = inspector.get("wire?limit=1000");
        let mut rows = rows["rows"].as_array()?.iter();
        let row = rows.find(|row| row["object"] == "echo")?["seq"].as_u64()?;
        Some(inspector.api("GET", &format!("wire/{row}"), "").1)
    });
    assert!(sent.contains(&format!("\"n\":{digits}")), "{sent}");
    assert!(inspector.api("GET", "state", "").1.contains(digits));
}

#[test]
fn questions_are_answered_at_the_page_in_both_eras() {
    for era in ["modern", "legacy"] {
        let inspector = Inspector::start(&["--era", era]);
        let n = inspector.call("greet", &json!({}));
        let asked = inspector.exchange_in(n, "asked");
        let ask = &asked["asks"][0];
        assert_eq!(
            (&ask["method"], &ask["exchange"]),
            (&json!("elicitation/create"), &json!(n))
        );
        assert!(ask["params"]["requestedSchema"].is_object(), "{ask}");
        let place = format!("asks/{}", ask["id"].as_str().expect("it has an id"));
        let misfit = json!({ "result": { "action": "accept", "content": { "name": 7 } } });
        assert_eq!(
            inspector.api("POST", &place, &misfit.to_string()).0,
            422,
            "{era}"
        );
        inspector.post(&place, &json!({ "refuse": "decline" }));
        let done = inspector.exchange_in(n, "done");
        assert_eq!(done["asks"], json!([]));
        assert!(done["result"]["content"][0]["text"].is_string(), "{done}");
        assert_eq!(inspector.api("POST", &place, &misfit.to_string()).0, 404);
        assert_eq!(done["rounds"], if era == "modern" { 2 } else { 1 });
    }
}

#[test]
fn servers_of_one_program_have_names_of_their_own() {
    let inspector = Inspector::start(&[]);
    let command = format!("{} serve --stdio", env!("CARGO_BIN_EXE_turnbuckle"));
    let added: Vec<Value> = (0..2)
        .map(|_| inspector.post("servers", &json!({ "target": command })))
        .collect();
    let names: Vec<_> = added.iter().map(|server| &server["name"]).collect();
    assert_eq!(names, ["turnbuckle 2", "turnbuckle 3"]);
    // Each can be stopped separately.
    let id = added[0]["id"].as_str().expect("it has an id");
    assert_eq!(inspector.api("DELETE", &format!("servers/{id}"), "").0, 200);
    let left = inspector.get("state");
    let left = left["servers"].as_array().expect("there is a list");
    let left: Vec<_> = left.iter().map(|server| &server["name"]).collect();
    assert_eq!(left, ["turnbuckle", "turnbuckle 3"]);
}

#[test]
fn a_call_that_is_cancelled_asks_nothing_any_more() {
    for era in ["modern", "legacy"] {
        let inspector = Inspector::start(&["--era", era]);
        let n = inspector.call("greet", &json!({}));
        inspector.exchange_in(n, "asked");
        inspector.post(&format!("exchanges/{n}/cancel"), &json!({}));
        inspector.until("the question is gone", |inspector| {
            (inspector.get("state")["asks"] == json!([])).then_some(())
        });
        assert_eq!(inspector.exchange(n)["status"], "cancelled", "{era}");
    }
}

/// A server at a URL that has gone away is not shown as connected.
#[test]
fn a_server_that_does_not_answer_is_told_of() {
    let demo = crate::program::HttpDemo::start();
    let inspector = Inspector::start(&[]);
    let added = inspector.post("servers", &json!({ "target": demo.url }));
    let id = added["id"].as_str().expect("it has an id").to_owned();
    let seen = |inspector: &Inspector, member: &str| {
        let state = inspector.get("state");
        let mut servers = state["servers"].as_array().into_iter().flatten();
        servers
            .find(|one| one["id"] == *id)
            .map(|one| one[member].clone())
    };
    inspector.post(&format!("servers/{id}/connect"), &json!({}));
    inspector.until("it is connected", |inspector| {
        (seen(inspector, "status") == Some(json!("open"))).then_some(())
    });
    assert_eq!(seen(&inspector, "isDown"), Some(json!(false)));
    drop(demo);
    let wanted = json!({ "method": "tools/list", "params": {} });
    inspector.post(&format!("servers/{id}/exchanges"), &wanted);
    inspector.until("it is told of", |inspector| {
        (seen(inspector, "isDown") == Some(json!(true))).then_some(())
    });
}

/// The end of a connection that was replaced does not affect the new one.
#[test]
fn a_server_that_is_connected_again_and_again_is_connected() {
    let demo = crate::program::HttpDemo::start();
    let inspector = Inspector::start(&[]);
    let added = inspector.post("servers", &json!({ "target": demo.url }));
    let id = added["id"].as_str().expect("it has an id").to_owned();
    let status = |inspector: &Inspector| {
        let state = inspector.get("state");
        let mut servers = state["servers"].as_array().into_iter().flatten();
        let server = servers.find(|one| one["id"] == *id);
        server.expect("it is there")["status"].clone()
    };
    for _ in 0..30 {
        inspector.post(&format!("servers/{id}/connect"), &json!({}));
        inspector.until("it is connected", |inspector| {
            (status(inspector) == "open").then_some(())
        });
    }
    // Waits longer than it takes to notice the end of a connection.
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(1) {
        assert_eq!(status(&inspector), "open");
    }
}

#[test]
fn cancelling_reaches_the_server() {
    let inspector = Inspector::start(&[]);
    let n = inspector.call("count", &json!({ "to": 1000, "pause": 1000 }));
    inspector.until("it counts", |inspector| {
        inspector.exchange(n)["progress"].is_object().then_some(())
    });
    inspector.post(&format!("exchanges/{n}/cancel"), &json!({}));
    assert_eq!(inspector.exchange(n)["status"], "cancelled");
    inspector.until("the server is told", |inspector| {
        let rows = inspector.get("wire?limit=1000");
        let mut rows = rows["rows"].as_array()?.iter();
        rows.find(|row| row["method"] == "notifications/cancelled")
            .map(drop)
    });
    assert_eq!(
        inspector
            .api("POST", &format!("exchanges/{n}/cancel"), "")
            .0,
        404
    );
}

#[test]
fn a_task_that_is_given_up_is_cancelled_by_name() {
    for era in ["modern", "legacy"] {
        let inspector = Inspector::start(&["--era", era]);
        let params = json!({ "name": "bake", "arguments": { "what": "bread", "time": 600_000 } });
        let wanted = json!({ "method": "tools/call", "params": params, "task": true });
        let started = inspector.post("servers/s1/exchanges", &wanted);
        let n = started["exchange"].as_u64().expect("it has a number");
        let task = inspector.until("it is a task", |inspector| {
            let exchange = inspector.exchange(n);
            exchange["task"].is_object().then_some(exchange)
        });
        assert_eq!(task["task"]["taskId"], task["taskId"], "{era}");
        inspector.post(&format!("exchanges/{n}/cancel"), &json!({}));
        let row = inspector.until("the server is told", |inspector| {
            let rows = inspector.get("wire?limit=1000");
            let mut rows = rows["rows"].as_array()?.iter();
            rows.find(|row| row["method"] == "tasks/cancel" && row["direction"] == "out")
                .cloned()
        });
        assert_eq!(row["exchange"], n, "it is shown with its call");
        let whole = inspector.get(&format!("wire/{}", row["seq"]));
        assert_eq!(whole["message"]["params"]["taskId"], task["taskId"]);
        assert_eq!(inspector.exchange(n)["status"], "cancelled");
    }
}

#[test]
fn a_command_line_has_the_options_of_the_connection() {
    let inspector = Inspector::start(&["--revision", "2025-06-18", "-H", "X-Api-Key: hunter2"]);
    let server = inspector.get("state")["servers"][0].clone();
    assert_eq!(server["shell"]["options"], "--revision 2025-06-18");
    let typed = json!({ "target": "http://127.0.0.1:9/mcp" });
    let added = inspector.post("servers", &typed);
    assert_eq!(
        added["shell"]["options"],
        "--revision 2025-06-18 --header \"X-Api-Key: $X_API_KEY\""
    );
    assert_eq!(added["shell"]["server"], "http://127.0.0.1:9/mcp");
    assert!(!inspector.api("GET", "state", "").1.contains("hunter2"));
}

#[test]
fn events_tell_what_happened_after_a_number() {
    let inspector = Inspector::start(&[]);
    let n = inspector.call("echo", &json!({ "text": "hi" }));
    inspector.exchange_in(n, "done");
    let mut stream = TcpStream::connect(("127.0.0.1", inspector.port)).expect("it listens");
    stream
        .set_read_timeout(Some(TIMEOUT))
        .expect("a socket has a timeout");
    let request = format!(
        "GET /api/events?after=0 HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nauthorization: Bearer {}\r\n\r\n",
        inspector.port, inspector.token
    );
    stream.write_all(request.as_bytes()).expect("it reads");
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut names = Vec::new();
    for line in lines {
        names.extend(line.strip_prefix("event: ").map(str::to_owned));
        if line.contains("\"status\":\"done\"") {
            break;
        }
    }
    for wanted in ["server", "exchange", "wire"] {
        assert!(
            names.iter().any(|name| name == wanted),
            "{wanted} in {names:?}"
        );
    }
}
