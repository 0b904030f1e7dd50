//! Runs this binary as a hand-written legacy server on stdio, which can do what no server should
//! do: ask for a call that was given up, die during a call, flood, and lie.
//!
//! Its tools wait until they are told to continue by a request for a page of prompts, because no
//! question can belong to such a request.

use std::{
    collections::HashMap,
    io::{BufRead as _, Write as _},
};

use serde_json::{Value, json};
use turnbuckle_host::ServerSpec;

/// The environment variable of the child process with the path of a file that outlives it.
const MARK: &str = "TURNBUCKLE_GATEWAY_TEST_RAW";

/// Does nothing unless a gateway started the process; then it is the server.
#[test]
fn serves_by_hand() {
    if let Some(file) = std::env::var_os(MARK) {
        Raw {
            file: file.into(),
            waiting: HashMap::new(),
            asked: HashMap::new(),
            passed: HashMap::new(),
            next: 0,
            cancelled: 0,
            reason: String::new(),
        }
        .run();
    }
}

/// The spec that runs this binary as a server. `file` is where it counts its deaths.
pub(crate) fn spec(file: &std::path::Path) -> ServerSpec {
    let program = std::env::current_exe().expect("this program");
    let command = format!(
        "{MARK}='{}' exec '{}' --exact raw_child::serves_by_hand --nocapture --quiet",
        file.display(),
        program.display()
    );
    ServerSpec::command("sh", ["-c", &command])
}

struct Raw {
    file: std::path::PathBuf,
    /// Waiting calls, by their names.
    waiting: HashMap<String, Value>,
    /// The call of each question.
    asked: HashMap<String, String>,
    /// The call of each question whose answer is its result.
    passed: HashMap<String, Value>,
    next: usize,
    /// How many calls were cancelled. They continue nevertheless.
    cancelled: usize,
    /// The reason of the last cancellation.
    reason: String,
}

fn say(message: &Value) {
    say_text(&message.to_string());
}

fn say_text(line: &str) {
    let mut out = std::io::stdout().lock();
    // The gateway may have ended.
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}

fn answer(id: &Value, result: &Value) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn text(id: &Value, text: &str) {
    answer(
        id,
        &json!({ "content": [{ "type": "text", "text": text }] }),
    );
}

impl Raw {
    fn run(mut self) {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            match message["method"].as_str() {
                Some(method) => self.hear(method, &message),
                None => self.take_answer(&message),
            }
        }
    }

    fn hear(&mut self, method: &str, message: &Value) {
        let (id, params) = (&message["id"], &message["params"]);
        match method {
            "initialize" => answer(
                id,
                &json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {
                        "tools": { "listChanged": true },
                        "prompts": {},
                        "resources": { "subscribe": true },
                    },
                    "serverInfo": { "name": "raw", "version": "1" },
                }),
            ),
            "tools/list" => answer(id, &json!({ "tools": tools() })),
            "resources/list" => {
                let page =
                    json!([{ "uri": "a:1", "name": "1" }, { "uri": "a:1/part", "name": "part" }]);
                answer(id, &json!({ "resources": page }));
            }
            "prompts/list" => {
                let is_so = params["cursor"]
                    .as_str()
                    .is_some_and(|what| self.go_on(what));
                let mut page = json!({ "prompts": [] });
                if is_so {
                    page["nextCursor"] = json!("yes");
                }
                answer(id, &page);
            }
            "tools/call" => self.call(id, params),
            "ping" | "resources/subscribe" | "resources/unsubscribe" => answer(id, &json!({})),
            "notifications/cancelled" => {
                self.cancelled += 1;
                let reason = params["reason"].as_str().unwrap_or_default();
                reason.clone_into(&mut self.reason);
            }
            _ if !id.is_null() => say(&json!({
                "jsonrpc": "2.0", "id": id,
                "error": { "code": -32601, "message": "no such method" },
            })),
            _ => {}
        }
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let name = params["name"].as_str().unwrap_or_default();
        match name {
            "pid" => text(id, &std::process::id().to_string()),
            "arguments" => text(id, &params["arguments"].to_string()),
            "flood" | "lie" => {
                self.go_on(name);
                text(id, "said");
            }
            // Asks the question in its arguments, and returns the answer unchanged.
            "pass" => {
                self.next += 1;
                let question = format!("p{}", self.next);
                let mut asked = params["arguments"].clone();
                asked["jsonrpc"] = json!("2.0");
                asked["id"] = json!(question);
                self.passed.insert(question, id.clone());
                say(&asked);
            }
            "update" => {
                say_text(
                    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1/part/2","title":"T","n":1.0e2}}"#,
                );
                text(id, "updated");
            }
            "die" => std::process::exit(1),
            "die_once" | "die_reading" => {
                let before = std::fs::read_to_string(&self.file).unwrap_or_default();
                std::fs::write(&self.file, format!("{before}{name}\n")).expect("a file");
                if before.is_empty() {
                    std::process::exit(1);
                }
                text(id, "alive");
            }
            // All other tools wait.
            _ => {
                let who = params["arguments"]["who"].as_str().unwrap_or_default();
                self.waiting.insert(who.to_owned(), id.clone());
            }
        }
    }

    /// `ask WHO`: asks in the call of that name. `end WHO`: ends it. `is WHO`: returns whether it
    /// waits. `cancelled N`: returns whether this many calls were cancelled. `because REASON`:
    /// returns whether this was the reason of the last cancellation.
    fn go_on(&mut self, what: &str) -> bool {
        let (verb, who) = what.split_once(' ').unwrap_or((what, ""));
        match verb {
            "is" => return self.waiting.contains_key(who),
            "cancelled" => return self.cancelled.to_string() == who,
            "because" => return self.reason == who,
            "ask" => {
                self.next += 1;
                let question = format!("q{}", self.next);
                self.asked.insert(question.clone(), who.to_owned());
                say(&json!({
                    "jsonrpc": "2.0", "id": question, "method": "elicitation/create",
                    "params": {
                        "message": format!("for {who}"),
                        "requestedSchema": { "type": "object", "properties": {} },
                    },
                }));
            }
            "end" => {
                if let Some(id) = self.waiting.remove(who) {
                    text(&id, &format!("{who} is done"));
                }
            }
            "lie" => {
                for lie in [
                    "not JSON at all".to_owned(),
                    r#"{"jsonrpc":"2.0","id":999999,"result":{}}"#.to_owned(),
                    r#"{"jsonrpc":"2.0","id":"no","error":{"code":1,"message":"x"}}"#.to_owned(),
                    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":77,"progress":1}}"#.to_owned(),
                    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q99"}}"#.to_owned(),
                    format!("{{\"jsonrpc\":\"2.0\",\"x\":\"{}\"}}", "y".repeat(100_000)),
                ] {
                    say_text(&lie);
                }
            }
            "flood" => {
                for _ in 0..20_000 {
                    say(&json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
                }
            }
            _ => {}
        }
        false
    }

    /// Handles an answer: the call of the question ends with it.
    fn take_answer(&mut self, message: &Value) {
        let question = message["id"].as_str().unwrap_or_default();
        if let Some(call) = self.passed.remove(question) {
            return text(&call, &message.to_string());
        }
        let Some(who) = message["id"].as_str().and_then(|id| self.asked.remove(id)) else {
            return;
        };
        let said = message["result"]["action"].as_str().unwrap_or("refused");
        if said == "accept" && who.starts_with("slow") {
            // The call works on the answer until it is told to end.
            return;
        }
        if let Some(id) = self.waiting.remove(&who) {
            text(&id, &format!("{who}: {said}"));
        }
    }
}

fn tools() -> Value {
    let tool = |name: &str, hints: Value| json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": hints });
    json!([
        tool("pid", json!({ "readOnlyHint": true })),
        {
            "name": "arguments",
            "inputSchema": {
                "type": "object",
                "properties": { "n": { "type": "integer" }, "q": { "type": "string" } },
                "required": ["n"],
            },
        },
        tool("pass", json!({})),
        tool("update", json!({})),
        tool("later", json!({})),
        tool("other", json!({})),
        tool("flood", json!({})),
        tool("lie", json!({})),
        tool("die", json!({})),
        tool("die_once", json!({})),
        tool("die_reading", json!({ "readOnlyHint": true })),
    ])
}
