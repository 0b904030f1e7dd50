//! The output and the exit code of commands, for answers of every kind.

use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json};

use crate::program::{HttpDemo, Place, stderr, stdout};

/// A place where `lab` is a server with these answers.
fn scripted(answers: &Value) -> Place {
    let place = Place::new();
    place.write("answers.json", &answers.to_string());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/scripted.py");
    let file = place.file("answers.json");
    let entry = json!({"command": "python3", "args": ["-B", script, file]});
    place.name_lab(&entry.to_string());
    place
}

fn tool(more: &Value) -> Value {
    let mut tool = json!({"name": "t", "inputSchema": {"type": "object"}});
    if let (Some(all), Some(more)) = (tool.as_object_mut(), more.as_object()) {
        all.extend(more.clone());
    }
    tool
}

#[test]
fn a_result_is_printed_once() {
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    for (content, wanted) in [
        (text("It is 12 degrees."), "It is 12 degrees.\n"),
        // A program gets the text exactly as it was sent.
        (text(r#"{"degrees":12}"#), "{\"degrees\":12}\n"),
        (json!([]), "{\n  \"degrees\": 12\n}\n"),
    ] {
        let place = scripted(&json!({
            "tools/list": {"result": {"tools": [tool(&json!({}))]}},
            "tools/call": {"result": {"content": content, "structuredContent": {"degrees": 12}}},
        }));
        assert_eq!(stdout(&place.run(&["call", "lab", "t"])), wanted);
    }
}

#[test]
fn an_error_is_told_with_its_code_and_its_data() {
    let error = json!({"code": -32002, "message": "no such thing", "data": {"uri": "x:y"}});
    let place = scripted(&json!({
        "tools/list": {"result": {"tools": [tool(&json!({}))]}},
        "tools/call": {"error": error},
        "resources/read": {"error": error},
    }));
    for words in [&["call", "lab", "t"][..], &["read", "lab", "x:y"]] {
        let output = place.run(words);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let said = stderr(&output);
        assert!(said.contains("no such thing (code -32002)"), "{said}");
        assert!(said.contains(r#"data: {"uri":"x:y"}"#), "{said}");
        let output = place.run(&[words, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let printed: Value = serde_json::from_str(&stdout(&output)).expect("it is one object");
        assert_eq!(printed, json!({ "error": error }));
    }
    // An error on the client's side has no code.
    let output = place.run(&["call", "lab", "no-such-tool", "--json"]);
    let printed: Value = serde_json::from_str(&stdout(&output)).expect("it is one object");
    let message = printed["error"]["message"].as_str().expect("it has one");
    assert!(message.contains("no tool `no-such-tool`"), "{message}");
}

#[test]
fn a_result_that_breaks_its_schema_is_printed_once_and_told_of() {
    let schema =
        json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}});
    let place = scripted(&json!({
        "tools/list": {"result": {"tools": [tool(&json!({"outputSchema": schema}))]}},
        "tools/call": {"result": {"content": [], "structuredContent": {"n": "many"}}},
    }));
    for (how, code) in [("warn", 0), ("error", 4)] {
        for line in ["turnbuckle call lab t", "turnbuckle call lab t --json"] {
            let output = place.shell(&format!("{line} --output-schema {how}"));
            assert_eq!(output.status.code(), Some(code), "{output:?}");
            assert!(
                stderr(&output).contains("breaks its output schema"),
                "{output:?}"
            );
            assert_eq!(stdout(&output).matches("\"n\"").count(), 1, "{output:?}");
        }
    }
}

#[test]
fn tools_for_clients_that_can_be_asked_are_listed() {
    let with_two = json!({"result": {"tools": [tool(&json!({})), {"name": "asks", "inputSchema": {"type": "object"}}]}});
    let place = scripted(&json!({
        "tools/list": {"result": {"tools": [tool(&json!({}))]}},
        "tools/list for clients that can be asked": with_two,
        "prompts/list": {"result": {"prompts": []}},
        "resources/list": {"result": {"resources": []}},
    }));
    let listed = stdout(&place.run(&["list", "lab"]));
    assert!(listed.contains("asks()"), "{listed}");
}

#[test]
fn lists_are_printed_though_one_cannot_be_read() {
    let place = scripted(&json!({
        "tools/list": {"result": {"tools": [tool(&json!({}))]}},
        "prompts/list": {"error": {"code": -32603, "message": "out of order"}},
        "resources/list": {"result": {"resources": []}},
    }));
    let output = place.run(&["list", "lab"]);
    assert!(stdout(&output).contains("t()"), "{output:?}");
    assert_eq!(output.status.code(), Some(4), "{output:?}");
    assert!(
        stderr(&output).contains("the list of prompts cannot be read"),
        "{output:?}"
    );
}

#[test]
fn one_tool_is_shown_whole_with_an_example_that_works() {
    let place = Place::with_lab();
    for words in [
        &["list", "lab", "order"][..],
        &["list", "lab", "tools", "order"],
    ] {
        let output = place.run(words);
        assert!(output.status.success(), "{output:?}");
        let shown = stdout(&output);
        for wanted in ["order", "Arguments", "Example"] {
            assert!(shown.contains(wanted), "{wanted}: {shown}");
        }
    }
    // Each tool without arguments, if it never fails, has an example that can be run unchanged.
    for tool in ["echo", "add", "weather", "order"] {
        let shown = stdout(&place.run(&["list", "lab", tool]));
        let line = shown.lines().last().expect("it has an example").trim();
        let output = place.shell(line);
        assert!(output.status.success(), "{line}: {output:?}");
    }
}

#[test]
fn descriptions_are_whole_in_a_pipe() {
    let long = "word ".repeat(60);
    let place = scripted(&json!({
        "tools/list": {"result": {"tools": [tool(&json!({"description": long}))]}},
        "prompts/list": {"result": {"prompts": []}},
        "resources/list": {"result": {"resources": []}},
    }));
    let listed = stdout(&place.run(&["list", "lab"]));
    assert!(listed.contains(long.trim()), "{listed}");
}

#[test]
fn a_task_of_a_program_that_ends_is_refused() {
    let place = Place::with_lab();
    let output = place.run(&["call", "lab", "bake", "what=bread", "--task"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(stdout(&output), "");
    assert!(
        stderr(&output).contains("cannot outlive this command"),
        "{output:?}"
    );
}

#[test]
fn what_a_server_logs_is_shown_in_every_era() {
    let place = Place::with_lab();
    for revision in ["2025-11-25", "2026-07-28"] {
        let words = [
            "call",
            "lab",
            "log",
            "text=hello",
            "--log",
            "debug",
            "--revision",
            revision,
        ];
        let output = place.run(&words);
        assert!(output.status.success(), "{output:?}");
        assert!(
            stderr(&output).contains("info demo: hello"),
            "{revision}: {output:?}"
        );
    }
}

#[test]
fn watching_ends_with_its_time() {
    let place = Place::with_lab();
    // On a busy machine the time may run out before the watch starts; then a longer time is tried.
    let mut outputs = ["0.2", "2", "20"]
        .into_iter()
        .map(|seconds| place.run(&["watch", "lab", "--timeout", seconds]));
    assert!(outputs.any(|output| output.status.success()));
}

#[test]
fn calls_that_failed_are_counted() {
    let place = Place::with_lab();
    let output = place.run(&["load", "lab", "fail", "--calls", "3"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(stdout(&output).starts_with("3 calls in "), "{output:?}");
    assert!(stdout(&output).contains("3 of them failed"), "{output:?}");
}

#[test]
fn the_first_error_of_many_calls_is_told_as_it_came() {
    let error = json!({"code": -32002, "message": "not found: x", "data": {"uri": "x"}});
    let place = scripted(&json!({
        "tools/list": {"result": {"tools": [tool(&json!({}))]}},
        "tools/call": {"error": error},
    }));
    let output = place.run(&["load", "lab", "t", "--calls", "3", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let told: Value = serde_json::from_str(&stdout(&output)).expect("it is one object");
    assert_eq!(told["errors"], 3);
    assert_eq!(told["firstError"], error);
    assert!(stderr(&output).contains("(code -32002)"), "{output:?}");
}

/// Sends a log message of every level during a call, whatever level was requested.
const LOGS_ALL: &str = r#"
import json, sys
for line in sys.stdin:
    heard = json.loads(line)
    if "id" not in heard:
        continue
    result = {}
    if heard["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
                  "serverInfo": {"name": "logs", "version": "1"}}
    elif heard["method"] == "tools/list":
        result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
    elif heard["method"] == "tools/call":
        for level in ["debug", "info", "warning", "error", "alert"]:
            params = {"level": level, "data": "at " + level}
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))
        result = {"content": []}
    elif heard["method"] == "server/discover":
        print(json.dumps({"jsonrpc": "2.0", "id": heard["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": heard["id"], "result": result}), flush=True)
"#;

#[test]
fn lines_below_the_level_are_not_shown_even_if_a_server_sends_them() {
    let place = Place::new();
    place.write("logs.py", LOGS_ALL);
    let output = place.run(&[
        "call", "t", "--log", "error", "--", "python3", "-B", "logs.py",
    ]);
    assert!(output.status.success(), "{output:?}");
    let said = stderr(&output);
    for level in ["error", "alert"] {
        assert!(said.contains(&format!("at {level}")), "{said}");
    }
    for level in ["debug", "info", "warning"] {
        assert!(!said.contains(&format!("at {level}")), "{said}");
    }
}

/// A server at a URL that only knows a task in the session that started it, as some SDKs do.
const TASKS_OF_SESSIONS: &str = r#"
import json, sys, uuid
from http.server import BaseHTTPRequestHandler, HTTPServer

tasks = {}

class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_response(405)
        self.send_header("content-length", "0")
        self.end_headers()

    do_DELETE = do_GET

    def do_POST(self):
        heard = json.loads(self.rfile.read(int(self.headers["content-length"])))
        session = self.headers.get("mcp-session-id")
        method, result, error = heard.get("method"), {}, None
        if "id" not in heard:
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()
            return
        about = {"status": "working", "createdAt": "2026-01-01T00:00:00Z",
                 "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 60000}
        if method == "initialize":
            session = str(uuid.uuid4())
            capabilities = {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}, "cancel": {}}}
            result = {"protocolVersion": "2025-11-25", "capabilities": capabilities,
                      "serverInfo": {"name": "tasks", "version": "1"}}
        elif method == "tools/list":
            tool = {"name": "t", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"}}
            result = {"tools": [tool]}
        elif method == "tools/call":
            tasks["task-1"] = session
            result = {"task": {"taskId": "task-1", **about}}
        elif method == "tasks/get" and tasks.get("task-1") == session:
            result = {"taskId": "task-1", **about}
        elif method == "tasks/cancel" and tasks.get("task-1") == session:
            result = {"taskId": "task-1", **about, "status": "cancelled"}
        else:
            error = {"code": -32602, "message": "no such task"}
        answer = {"jsonrpc": "2.0", "id": heard["id"], **({"error": error} if error else {"result": result})}
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if session:
            self.send_header("mcp-session-id", session)
        self.end_headers()
        self.wfile.write(body)

server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"#;

#[test]
fn a_task_that_no_other_session_knows_is_refused() {
    let place = Place::new();
    place.write("tasks.py", TASKS_OF_SESSIONS);
    let mut child = place
        .command("python3")
        .args(["-B", "tasks.py"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("Python runs");
    let mut port = String::new();
    let printed = child.stdout.take().expect("it is piped");
    let read = BufReader::new(printed).read_line(&mut port);
    let url = format!("http://127.0.0.1:{}/mcp", port.trim());
    let output = place.run(&["call", "--era", "legacy", &url, "t", "--task"]);
    let _ = child.kill();
    let _ = child.wait();
    read.expect("it says its port");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(stdout(&output), "");
    let said = stderr(&output);
    assert!(said.contains("keeps tasks per session"), "{said}");
    assert!(said.contains("leave out `--task`"), "{said}");
}

#[test]
fn addresses_that_are_nearly_right_get_a_hint() {
    let place = Place::new();
    let demo = HttpDemo::start();
    let bare = demo.url.strip_prefix("http://").expect("it is one");
    let output = place.run(&["list", bare]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(
        stderr(&output).contains(&format!("did you mean `{}`?", demo.url)),
        "{output:?}"
    );
    let secure = format!("https://{bare}");
    let output = place.run(&["list", &secure]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains(&format!("`{}`", demo.url)), "{said}");
    assert!(said.contains("does not speak TLS"), "{said}");
}

#[test]
fn signing_out_without_a_sign_in_says_so() {
    let place = Place::new();
    let output = place.run(&["logout", "http://127.0.0.1:9/mcp"]);
    assert!(output.status.success(), "{output:?}");
    assert!(
        stderr(&output).contains("you were not signed in"),
        "{output:?}"
    );
}

#[test]
fn what_cannot_be_read_is_told_in_the_words_of_json() {
    for (answer, wanted) in [
        (
            json!({"result": "hello"}),
            "with something that cannot be read: expected an object, got string \"hello\"\n",
        ),
        (
            json!({"error": "broken"}),
            "with something that cannot be read: expected an object, got string \"broken\"\n",
        ),
    ] {
        let place = scripted(&json!({
            "tools/list": {"result": {"tools": [tool(&json!({}))]}},
            "tools/call": answer,
        }));
        let output = place.run(&["call", "lab", "t"]);
        assert_eq!(output.status.code(), Some(4), "{output:?}");
        let said = stderr(&output);
        assert!(said.starts_with("error: server `lab` answered"), "{said}");
        assert!(said.ends_with(wanted), "{said}");
    }
}

#[test]
fn a_warning_names_the_server_and_the_tool() {
    let odd = tool(&json!({"name": "odd", "title": 7}));
    let place = scripted(&json!({
        "tools/list": {"result": {"tools": [tool(&json!({})), odd]}},
    }));
    let said = stderr(&place.run(&["list", "lab"]));
    let wanted = "warning: server `lab`: `/title` of tool `odd` in the answer to `tools/list`: \
                  expected a string, got integer `7`; left out\n";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn an_answer_that_nothing_asks_for_is_told_where_one_is_missing() {
    let place = Place::with_lab();
    let output = place.shell("turnbuckle call lab greet --answer zzz=1 < /dev/null");
    assert_eq!(output.status.code(), Some(6), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("nothing asked for `zzz`"), "{said}");
    let line = "turnbuckle call lab deploy env=prod --answer reason=because --answer confirm=";
    let output = place.shell(line);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(said.contains("the answer to `confirm` is empty"), "{said}");
}

#[test]
fn an_answer_that_fits_no_field_is_an_error() {
    let place = Place::with_lab();
    let line = "turnbuckle call lab deploy env=prod --answer reason=because --answer confrim=true";
    let output = place.shell(line);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = stderr(&output);
    assert!(
        said.contains("`--answer confrim=…` matches no field"),
        "{said}"
    );
    assert!(said.contains("did you mean `confirm`?"), "{said}");
}
