//! Questions about capabilities that the client did not declare, calls that first need a visit, and results that
//! violate their schema, all on the wire of a real process.

use std::process::Output;

use crate::program::{Place, stderr, stdout};

/// The common part of a scripted server: each function answers one method.
pub(crate) const COMMON: &str = r#"
import json, sys
def say(message): print(json.dumps(dict(message, jsonrpc="2.0")), flush=True)
def log(text): print(text, file=sys.stderr, flush=True)
def result(asked, value): say({"id": asked["id"], "result": value})
def error(asked, code, **more): say({"id": asked["id"], "error": dict(code=code, message="no", **more)})
def text(value): return {"resultType": "complete", "content": [{"type": "text", "text": value}]}
TOOL = {"name": "t", "inputSchema": {"type": "object"}}
def messages():
    for line in sys.stdin:
        asked = json.loads(line)
        method = asked.get("method")
        if method == "initialize":
            result(asked, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"}})
        elif method == "server/discover": discover(asked)
        elif method == "tools/list":
            result(asked, {"resultType": "complete", "tools": [TOOL], "ttlMs": 0, "cacheScope": "private"})
        elif method == "notifications/initialized": pass
        else: yield asked
def discover(asked): error(asked, -32601)
def modern(asked):
    result(asked, {"resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
        "capabilities": {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}})
"#;

fn run(words: &[&str], body: &str) -> Output {
    let place = Place::new();
    place.write("server.py", &format!("{COMMON}\n{body}"));
    let mut all = words.to_vec();
    all.extend(["--", "python3", "server.py"]);
    place.run(&all)
}

// rule: V5
#[test]
fn roots_that_were_not_given_are_refused_and_not_an_empty_list() {
    let body = r#"
for asked in messages():
    if asked.get("method") == "tools/call":
        call = asked
        say({"id": "q", "method": "roots/list"})
    elif asked.get("id") == "q":
        result(call, text(str(asked.get("error", {}).get("code", asked.get("result")))))
"#;
    let output = run(&["call", "t"], body);
    assert_eq!(stdout(&output), "-32601\n", "{}", stderr(&output));
}

/// A call that is rejected until the user has visited a page. The end of the visit is not reported.
pub(crate) const VISIT_FIRST: &str = r#"
visited = False
for asked in messages():
    if asked.get("method") == "tools/call":
        if visited: result(asked, text("a.txt"))
        else:
            visited = True
            visit = {"mode": "url", "message": "Sign in", "url": "https://a.example/in", "elicitationId": "v1"}
            error(asked, -32042, data={"elicitations": [visit]})
"#;

// rule: E8
#[test]
fn a_visit_that_is_wanted_first_is_shown_and_the_call_sent_again() {
    let output = run(&["call", "t", "--answer", "v1=accept"], VISIT_FIRST);
    assert_eq!(stdout(&output), "a.txt\n", "{}", stderr(&output));
    let unattended = run(&["call", "t"], VISIT_FIRST);
    assert_eq!(unattended.status.code(), Some(6), "{unattended:?}");
    let said = stderr(&unattended);
    assert!(said.contains("https://a.example/in"), "{said}");
    assert!(said.contains("--answer v1=accept"), "{said}");
}

/// A task that asks for a seat and ends with the answer.
const TASK: &str = r#"
discover = modern
seat = None
def task(status, **more):
    return dict(resultType="complete", taskId="t1", status=status, ttlMs=None, pollIntervalMs=10,
        createdAt="2026-01-01T00:00:00Z", lastUpdatedAt="2026-01-01T00:00:00Z", **more)
schema = {"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]}
form = {"method": "elicitation/create", "params": {"mode": "form", "message": "Which seat?", "requestedSchema": schema}}
for asked in messages():
    method = asked.get("method")
    if method == "tools/call": result(asked, dict(task("working"), resultType="task"))
    elif method == "tasks/get" and seat: result(asked, task("completed", result={"content": [{"type": "text", "text": seat}]}))
    elif method == "tasks/get": result(asked, task("input_required", inputRequests={"where": form}))
    elif method == "tasks/update":
        seat = asked["params"]["inputResponses"]["where"]["content"]["seat"]
        result(asked, {"resultType": "complete"})
"#;

// rule: Z5
#[test]
fn what_a_task_asks_is_answered() {
    for words in [
        &["call", "t", "--answer", "seat=12A"][..],
        &["tasks", "result", "t1", "--answer", "seat=12A"],
    ] {
        let output = run(words, TASK);
        assert_eq!(stdout(&output), "12A\n", "{words:?}: {}", stderr(&output));
    }
    let unattended = run(&["call", "t"], TASK);
    assert_eq!(unattended.status.code(), Some(6), "{unattended:?}");
    assert!(
        stderr(&unattended).contains("Which seat?"),
        "{unattended:?}"
    );
}

// rule: RS13
#[test]
fn what_has_no_description_is_listed_with_its_name_for_people() {
    for (members, shown) in [
        (r#"TOOL["title"] = "Weather""#, "Weather"),
        (
            r#"TOOL["annotations"] = {"title": "Weather of old"}"#,
            "Weather of old",
        ),
        (
            r#"TOOL.update(title="Weather", description="Tells it")"#,
            "Tells it",
        ),
    ] {
        let output = run(
            &["list"],
            &format!("{members}\nfor asked in messages(): pass"),
        );
        let listed = stdout(&output);
        let line = listed.lines().find(|line| line.contains("t()"));
        let line = line.unwrap_or_else(|| panic!("{output:?}"));
        assert!(line.trim_end().ends_with(shown), "{line}");
    }
}

// rule: T4
#[test]
fn a_result_that_breaks_its_schema_is_a_warning_or_an_error() {
    let body = r#"
TOOL["outputSchema"] = {"type": "object", "properties": {"sum": {"type": "integer"}}}
for asked in messages():
    if asked.get("method") == "tools/call":
        result(asked, dict(text("three"), structuredContent={"sum": "three"}))
"#;
    let warned = run(&["call", "t", "--json", "--output-schema", "warn"], body);
    assert!(warned.status.success(), "{warned:?}");
    assert!(stdout(&warned).contains("three"), "{warned:?}");
    let said = stderr(&warned);
    assert!(
        said.contains("warning: the result of tool `t` breaks its output schema"),
        "{said}"
    );
    // The server violated its own schema: the result is printed, and the command fails.
    for words in [
        &["call", "t", "--json"][..],
        &["call", "t", "--json", "--output-schema", "error"],
    ] {
        let failed = run(words, body);
        assert_eq!(failed.status.code(), Some(4), "{failed:?}");
        assert!(stdout(&failed).contains("three"), "{failed:?}");
    }
    let ignored = run(&["call", "t", "--json", "--output-schema", "ignore"], body);
    assert_eq!(
        (ignored.status.code(), stderr(&ignored)),
        (Some(0), String::new())
    );
}
