//! Runs this binary as a hand-written server on stdio that supports both eras. Its tasks have the
//! ids `1`, `2` and so on, like those of any other process of it.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};
use turnbuckle_host::ServerSpec;

/// Set in the environment of the child process.
const MARK: &str = "TURNBUCKLE_GATEWAY_TEST_TASKS";

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Does nothing unless a gateway started the process; then it is the server.
#[test]
fn serves_tasks_by_hand() {
    if std::env::var_os(MARK).is_some() {
        Tasks::default().run();
    }
}

/// The spec that runs this binary as a server.
pub(crate) fn spec() -> ServerSpec {
    let program = std::env::current_exe().expect("this program");
    let command = format!(
        "{MARK}=1 exec '{}' --exact task_child::serves_tasks_by_hand --nocapture --quiet",
        program.display()
    );
    ServerSpec::command("sh", ["-c", &command])
}

#[derive(Default)]
struct Tasks {
    is_legacy: bool,
    /// The owner and the status of each task.
    begun: Vec<(String, &'static str)>,
}

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    // The gateway may have ended.
    let _ = writeln!(out, "{message}");
    let _ = out.flush();
}

fn answer(id: &Value, mut result: Value) {
    if result.get("resultType").is_none() {
        result["resultType"] = json!("complete");
    }
    say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn refuse(id: &Value, code: i64, message: &str) {
    say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
}

impl Tasks {
    fn run(mut self) {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            let (id, params) = (&message["id"], &message["params"]);
            match message["method"].as_str() {
                Some(method) if !id.is_null() => self.hear(method, id, params),
                _ => {}
            }
        }
    }

    fn hear(&mut self, method: &str, id: &Value, params: &Value) {
        match method {
            "server/discover" => answer(
                id,
                json!({
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": { "tools": {}, "extensions": { EXTENSION: {} } },
                    "serverInfo": { "name": "tasks", "version": "1" },
                }),
            ),
            "initialize" => {
                self.is_legacy = true;
                let yes = json!({});
                let tasks = json!({ "cancel": yes, "requests": { "tools": { "call": yes } } });
                answer(
                    id,
                    json!({
                        "protocolVersion": params["protocolVersion"],
                        "capabilities": { "tools": {}, "tasks": tasks },
                        "serverInfo": { "name": "tasks", "version": "1" },
                    }),
                );
            }
            "ping" => answer(id, json!({})),
            "tools/list" => answer(id, json!({ "tools": tools() })),
            "tools/call" => self.call(id, params),
            "tasks/get" | "tasks/cancel" => self.about_task(method, id, params),
            _ => refuse(id, -32601, "no such method"),
        }
    }

    fn call(&mut self, id: &Value, params: &Value) {
        match params["name"].as_str() {
            Some("die") => std::process::exit(1),
            Some("job") => {
                let who = params["arguments"]["who"].as_str().unwrap_or_default();
                self.begun.push((who.to_owned(), "working"));
                let task = self.task(self.begun.len());
                if self.is_legacy {
                    answer(id, json!({ "task": task }));
                } else {
                    let mut task = task;
                    task["resultType"] = json!("task");
                    answer(id, task);
                }
            }
            _ => {
                let pid = std::process::id().to_string();
                answer(id, json!({ "content": [{ "type": "text", "text": pid }] }));
            }
        }
    }

    /// The task with this number. Its status message says whose it is and where it runs.
    fn task(&self, number: usize) -> Value {
        let (who, status) = &self.begun[number - 1];
        json!({
            "taskId": number.to_string(),
            "status": status,
            "statusMessage": format!("{who} {}", std::process::id()),
            "createdAt": "2026-01-01T00:00:00Z",
            "lastUpdatedAt": "2026-01-01T00:00:00Z",
            "ttl": null,
            "ttlMs": null,
        })
    }

    /// Requests about tasks of `hangs` are never answered, and tasks of `stubborn` cannot be cancelled.
    fn about_task(&mut self, method: &str, id: &Value, params: &Value) {
        let number = params["taskId"].as_str().and_then(|id| id.parse().ok());
        let Some(number) = number.filter(|number| (1..=self.begun.len()).contains(number)) else {
            return refuse(id, -32602, "unknown task");
        };
        let (who, status) = &mut self.begun[number - 1];
        match (&**who, method) {
            ("hangs", _) => {}
            ("stubborn", "tasks/cancel") => refuse(id, -32602, "it cannot be cancelled"),
            (_, "tasks/cancel") => {
                *status = "cancelled";
                answer(id, self.task(number));
            }
            _ => answer(id, self.task(number)),
        }
    }
}

fn tools() -> Value {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let mut job = tool("job");
    job["execution"] = json!({ "taskSupport": "optional" });
    json!([job, tool("pid"), tool("die")])
}
