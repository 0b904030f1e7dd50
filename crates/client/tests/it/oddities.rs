//! Servers that behave like real ones, as child processes: the probe must not harm any of them, and
//! none may hang the client or be left running.

use std::{
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::json;
use turnbuckle_client::{
    CallError, Client, ConnectError, Connection, DetectedRevision,
    protocol::Revision,
    transport::{Command, EndedBy},
};

/// The part that all these servers share: messages in and out, a handshake and a tool.
const COMMON: &str = r#"
import json, os, signal, subprocess, sys, time
def log(text):
    print(text, file=sys.stderr, flush=True)
def say(message):
    print(json.dumps(dict(message, jsonrpc="2.0")), flush=True)
def result(asked, value):
    say({"id": asked["id"], "result": value})
def error(asked, code, **more):
    say({"id": asked["id"], "error": dict(code=code, message="odd", **more)})
def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    asked = json.loads(line)
    log("heard " + asked["method"])
    return asked
def welcome(asked):
    result(asked, {"protocolVersion": asked["params"]["protocolVersion"],
        "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}})
def discovered(asked):
    result(asked, {"resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"})
def served(asked):
    if asked["method"] == "initialize":
        welcome(asked)
    elif asked["method"] == "tools/call":
        result(asked, {"content": [{"type": "text", "text": str(os.getpid())}]})
    else:
        return False
    return True
"#;

/// A server that no other test has used, because detected revisions are remembered.
fn server(body: &str) -> Command {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    Command::new("python3")
        .arg("-c")
        .arg(format!("{COMMON}\n{body}\n# {number}"))
}

fn client() -> Client {
    Client::new("app", "1.0").grace(Duration::from_millis(500))
}

/// Calls the tool, which returns the process id.
async fn use_it(connection: &Connection) -> u32 {
    connection
        .call("pid", json!({}))
        .await
        .unwrap()
        .parse()
        .unwrap()
}

/// Connects, uses the server, and returns the methods of the requests that it received.
async fn visit(client: &Client, command: Command, expected: Revision) -> Vec<String> {
    let connection = client.connect(command).await.unwrap();
    assert_eq!(connection.server().revision(), expected);
    use_it(&connection).await;
    let ending = connection.close().await;
    let heard = ending
        .stderr
        .iter()
        .filter_map(|line| line.strip_prefix("heard "));
    heard.map(str::to_owned).collect()
}

const NEWEST_LEGACY: Revision = Revision::V2025_11_25;
const PROBED: [&str; 4] = [
    "server/discover",
    "initialize",
    "notifications/initialized",
    "tools/call",
];
const UNPROBED: [&str; 3] = ["initialize", "notifications/initialized", "tools/call"];

#[tokio::test]
async fn a_server_that_answers_the_probe_with_any_error_or_oddly_is_legacy() {
    for answer in [
        "error(asked, -32601)",
        "error(asked, -32602)",
        "error(asked, -32000, data={'reason': 'not initialized'})",
        "error(asked, 0)",
        "error(asked, -32603, data='2026-07-28')",
        "result(asked, {})",
        "result(asked, {'ok': True})",
        "result(asked, None)",
        "result(asked, {'supportedVersions': 'all of them', 'capabilities': {}})",
        "say({'id': None, 'error': {'code': -32600, 'message': 'odd'}})",
        "say({'error': {'code': -32700, 'message': 'odd'}})",
        "say({'id': 'who?', 'result': {}})",
        "say({'id': asked['id'], 'error': 'a string'})",
    ] {
        let command = server(&format!(
            "while True:\n  asked = hear()\n  if not served(asked) and 'id' in asked: {answer}"
        ));
        assert_eq!(
            visit(&client(), command, NEWEST_LEGACY).await,
            PROBED,
            "{answer}"
        );
    }
}

#[tokio::test]
async fn a_server_that_exits_on_the_probe_is_started_again_without_one() {
    for exit in [
        "sys.exit(3)",
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "raise KeyError('method')",
    ] {
        let command = server(&format!(
            "while True:\n  asked = hear()\n  if not served(asked): {exit}"
        ));
        // The second process is the one that is closed, and it was never probed.
        let connection = client().connect(command).await.unwrap();
        assert_eq!(connection.server().revision(), NEWEST_LEGACY);
        let heard = connection.close().await;
        assert_eq!(heard.stderr[0], "heard initialize", "{exit}");
    }
}

#[tokio::test]
async fn a_server_that_ignores_what_it_does_not_know_gets_its_handshake_in_a_second_process() {
    let client = client().probe_timeout(Duration::from_millis(400));
    let command = server("while True: served(hear())");
    assert_eq!(visit(&client, command, NEWEST_LEGACY).await, UNPROBED);
}

#[tokio::test]
async fn a_server_that_is_wedged_by_the_probe_costs_no_handshake_timeout() {
    let client = client()
        .probe_timeout(Duration::from_millis(300))
        // The timeout is longer than the test may run, so nothing waits for it.
        .handshake_timeout(Duration::from_hours(1));
    let command = server("while True:\n  if not served(hear()): time.sleep(1000)");
    // `initialized` makes it hang as well, so no more requests are sent.
    let connection = client.connect(command).await.unwrap();
    assert_eq!(connection.server().revision(), NEWEST_LEGACY);
    let ending = connection.close().await;
    assert_eq!(ending.stderr[0], "heard initialize");
    assert_eq!(ending.process.unwrap().by, EndedBy::Terminate);
}

#[tokio::test]
async fn a_server_that_prints_lines_that_are_not_messages_is_understood() {
    let command = server(
        r#"
print("Welcome to the odd server!\n{\n[1,2\n\x00\xff", flush=True)
while True:
    asked = hear()
    print("got " + asked["method"])
    print('{"level": "info", "message": "not for you"}')
    if not served(asked) and "id" in asked: error(asked, -32601)
"#,
    );
    assert_eq!(visit(&client(), command, NEWEST_LEGACY).await, PROBED);
}

#[tokio::test]
async fn a_modern_server_is_spoken_to_in_its_own_way() {
    let command = server(
        r#"
while True:
    asked = hear()
    if asked["method"] == "server/discover": discovered(asked)
    elif asked["method"] == "initialize": error(asked, -32022, data={"supported": ["2026-07-28"]})
    else: served(asked)
"#,
    );
    let heard = visit(&client(), command, Revision::LATEST).await;
    assert_eq!(heard, ["server/discover", "tools/call"]);
}

#[tokio::test]
async fn a_slow_modern_server_that_refuses_the_handshake_is_modern_after_all() {
    let client = client().probe_timeout(Duration::from_millis(300));
    let command = server(
        r#"
while True:
    asked = hear()
    if asked["method"] == "server/discover":
        time.sleep(1)
        discovered(asked)
    elif asked["method"] == "initialize": error(asked, -32601)
    else: served(asked)
"#,
    );
    let heard = visit(&client, command, Revision::LATEST).await;
    assert_eq!(heard, ["server/discover", "tools/call"]);
}

/// A server of both eras whose first process is slow to answer, while the second is not slower. The
/// result must not be a session.
#[tokio::test]
async fn a_slow_server_of_both_eras_is_not_taken_for_a_legacy_one() {
    let client = client().probe_timeout(Duration::from_millis(300));
    let command = server(
        r#"
time.sleep(1.5)
while True:
    asked = hear()
    if asked["method"] == "server/discover": discovered(asked)
    else: served(asked)
"#,
    );
    let heard = visit(&client, command.clone(), Revision::LATEST).await;
    assert_eq!(heard, ["server/discover", "tools/call"]);
}

/// The machine suspends the first process until the second has answered. The first process gets twice
/// the time of the second.
#[cfg(unix)]
#[tokio::test]
async fn a_server_that_stood_still_for_a_while_is_still_modern() {
    // Long enough for the first process to start before the second, even on a busy machine.
    let client = client().probe_timeout(Duration::from_secs(1));
    let folder = std::env::temp_dir().join(format!("turnbuckle-still-{}", std::process::id()));
    let _ = std::fs::remove_file(&folder);
    let command = server(&format!(
        r#"
first = not os.path.exists({folder:?})
open({folder:?}, "a").close()
if first:
    log("first")
    # Until the second process has answered, and a moment longer.
    while os.path.getsize({folder:?}) == 0: time.sleep(0.01)
else:
    time.sleep(2)
while True:
    asked = hear()
    if asked["method"] == "server/discover": discovered(asked)
    else:
        served(asked)
        if not first:
            with open({folder:?}, "a") as file: file.write("answered")
"#
    ));
    let connection = client.connect(command).await.unwrap();
    let revision = connection.server().revision();
    let ending = connection.close().await;
    let _ = std::fs::remove_file(&folder);
    assert_eq!(revision, Revision::LATEST);
    assert_eq!(ending.stderr[0], "first");
}

#[tokio::test]
async fn the_verdict_is_remembered_for_the_same_program_and_corrected_when_it_is_wrong() {
    let command = server(
        "while True:\n  asked = hear()\n  if not served(asked) and 'id' in asked: error(asked, -32601)",
    );
    // The result of a client with a fixed revision says nothing about the server's other revisions.
    let pinned = client().only(NEWEST_LEGACY);
    assert_eq!(
        visit(&pinned, command.clone(), NEWEST_LEGACY).await,
        UNPROBED
    );
    assert_eq!(
        visit(&client(), command.clone(), NEWEST_LEGACY).await,
        PROBED
    );
    assert_eq!(
        visit(&client(), command.clone(), NEWEST_LEGACY).await,
        UNPROBED
    );
    // With another argument, it is another server.
    assert_eq!(
        visit(&client(), command.arg("x"), NEWEST_LEGACY).await,
        PROBED
    );

    let modern = server(
        "while True:\n  asked = hear()\n  if asked['method'] == 'server/discover': discovered(asked)\n  elif asked['method'] == 'tools/call': served(asked)\n  elif 'id' in asked: error(asked, -32601)",
    );
    let wrong = DetectedRevision {
        revision: Revision::V2025_03_26,
    };
    let connection = client()
        .connect(modern)
        .known_revision(wrong)
        .await
        .unwrap();
    assert_eq!(connection.server().revision(), Revision::LATEST);
    use_it(&connection).await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let error = client()
        .connect(Command::new("no-such-mcp-server"))
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::Spawn { .. }), "{error:?}");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        cause.contains("no-such-mcp-server") && cause.contains("PATH"),
        "{cause}"
    );
}

#[tokio::test]
async fn a_program_that_fails_at_once_is_quoted() {
    let command = server("log('No module named mcp'); sys.exit(7)");
    let error = client().connect(command).await.unwrap_err();
    let ConnectError::Ended { ending, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(ending.process.unwrap().status.unwrap().code(), Some(7));
    let text = error.to_string();
    assert!(
        text.starts_with("server `python3` ended before it answered"),
        "{text}"
    );
    assert!(
        text.contains("exit status: 7") && text.contains("No module named mcp"),
        "{text}"
    );
}

#[tokio::test]
async fn a_program_that_is_not_a_server_times_out_with_what_was_tried() {
    let client = client()
        .probe_timeout(Duration::from_millis(200))
        .handshake_timeout(Duration::from_millis(300));
    let error = client
        .connect(Command::new("sleep").arg("1000"))
        .await
        .unwrap_err();
    assert!(matches!(error, ConnectError::TimedOut { .. }), "{error:?}");
    let tried = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        tried.contains("started the server a second time"),
        "{tried}"
    );
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_call_ends_the_call_with_its_last_words() {
    let command = server(
        r#"
while True:
    asked = hear()
    if asked["method"] == "tools/call":
        log("Traceback: out of cheese")
        os._exit(9)
    if not served(asked) and "id" in asked: error(asked, -32601)
"#,
    );
    let connection = client().connect(command).await.unwrap();
    let started = Instant::now();
    let error = connection.call("pid", json!({})).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    let CallError::Closed { ending, .. } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(ending.process.unwrap().status.unwrap().code(), Some(9));
    assert!(error.to_string().contains("out of cheese"), "{error}");
}

#[tokio::test]
async fn a_server_that_dies_while_it_writes_an_answer_has_died_and_is_not_at_fault() {
    let command = server(
        r#"
while True:
    asked = hear()
    if asked["method"] == "tools/call":
        sys.stdout.write('{"jsonrpc":"2.0","id":%s,"result":{"content":[{"ty' % json.dumps(asked["id"]))
        sys.stdout.flush()
        os._exit(9)
    if not served(asked) and "id" in asked: error(asked, -32601)
"#,
    );
    let connection = client().connect(command).await.unwrap();
    let error = connection.call("pid", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_that_dies_and_leaves_its_output_open_does_not_hang_the_call() {
    let command = server(
        r#"
while True:
    asked = hear()
    if asked["method"] == "tools/call":
        subprocess.Popen(["sleep", "1000"])
        os._exit(9)
    if not served(asked) and "id" in asked: error(asked, -32601)
"#,
    );
    let connection = client().connect(command).await.unwrap();
    let started = Instant::now();
    let error = connection.call("pid", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error:?}");
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "{:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_server_that_closes_its_output_and_lives_on_does_not_hang_the_call() {
    let command = server(
        r#"
signal.signal(signal.SIGTERM, signal.SIG_IGN)
while True:
    asked = hear()
    if asked["method"] == "tools/call":
        os.close(1)
        time.sleep(1000)
    if not served(asked) and "id" in asked: error(asked, -32601)
"#,
    );
    let connection = client()
        .grace(Duration::from_secs(2))
        .connect(command)
        .await
        .unwrap();
    let started = Instant::now();
    let error = connection.call("pid", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error:?}");
    // The caller does not wait for all grace periods of the server.
    assert!(
        started.elapsed() < Duration::from_secs(2),
        "{:?}",
        started.elapsed()
    );
    assert_eq!(connection.closed().await.process.unwrap().by, EndedBy::Kill);
}

#[tokio::test]
async fn closing_lets_a_server_end_by_itself_and_tells_how() {
    let command = server(
        "while True:\n  asked = hear()\n  if not served(asked) and 'id' in asked: error(asked, -32601)",
    );
    let connection = client().connect(command).await.unwrap();
    let ending = connection.close().await;
    let process = ending.process.unwrap();
    assert_eq!(
        (process.by, process.status.unwrap().code()),
        (EndedBy::Itself, Some(0))
    );
    let error = connection.call("pid", json!({})).await.unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_server_that_ignores_the_end_of_its_input_and_sigterm_is_killed() {
    let command = server(
        r#"
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def serve():
    while True:
        line = sys.stdin.readline()
        if not line: time.sleep(1000)
        asked = json.loads(line)
        if not served(asked) and "id" in asked: error(asked, -32601)
serve()
"#,
    );
    let connection = client().connect(command).await.unwrap();
    let started = Instant::now();
    let ending = connection.close().await;
    assert_eq!(ending.process.unwrap().by, EndedBy::Kill);
    assert!(
        started.elapsed() < Duration::from_secs(6),
        "{:?}",
        started.elapsed()
    );
}

// stdio: output on stderr SHOULD NOT be taken for an error, whatever it says.
// rule: S3
#[tokio::test]
async fn the_log_of_a_server_can_be_followed() {
    let command = server(
        "log('ERROR: fatal')\nwhile True:\n  asked = hear()\n  if not served(asked) and 'id' in asked: error(asked, -32601)",
    );
    let client = client().only(NEWEST_LEGACY);
    let connection = client.connect(command).await.unwrap();
    let mut lines = connection.stderr().unwrap().follow();
    assert_eq!(lines.next().await.unwrap().text, "ERROR: fatal");
    assert_eq!(lines.next().await.unwrap().text, "heard initialize");
    // It still answers, although it does not support pings.
    let error = connection.ping().await.unwrap_err();
    assert_eq!(error.rejection().map(|error| error.code), Some(-32601));
    assert!(!connection.is_closed());
}

#[tokio::test]
async fn a_dropped_connection_leaves_no_process_behind() {
    let command = server(
        "while True:\n  asked = hear()\n  if not served(asked) and 'id' in asked: error(asked, -32601)",
    );
    let connection = client().connect(command).await.unwrap();
    let pid = use_it(&connection).await;
    assert!(Path::new(&format!("/proc/{pid}")).exists());
    drop(connection);
    gone(pid).await;
}

#[tokio::test]
async fn a_dropped_attempt_leaves_no_process_behind() {
    let marker = format!("{}", 1_000_000 + std::process::id());
    let attempt = client().connect(Command::new("sleep").arg(&marker));
    tokio::time::timeout(Duration::from_millis(300), attempt)
        .await
        .unwrap_err();
    for _ in 0..1200 {
        if find(&marker).is_none() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("`sleep {marker}` still runs");
}

async fn gone(pid: u32) {
    for _ in 0..1200 {
        if !Path::new(&format!("/proc/{pid}")).exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("process {pid} still runs");
}

/// A process that has this word among its arguments.
fn find(word: &str) -> Option<String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .find_map(|entry| {
            let line = std::fs::read_to_string(entry.path().join("cmdline")).ok()?;
            line.split('\0')
                .any(|argument| argument == word)
                .then_some(line)
        })
}
