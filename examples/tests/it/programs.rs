//! The examples that are complete programs.

use std::process::Stdio;

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    process::Command,
};
use turnbuckle::client::Client;

use crate::program::{TIMEOUT, example, printed};

#[tokio::test]
async fn in_process_serves_itself() {
    assert_eq!(printed("in_process", &[]).await, "elkcubnrut\n");
}

#[tokio::test]
async fn a_simulation_finds_the_seat_that_is_sold_twice() {
    let text = printed("simulation", &[]).await;
    assert!(text.contains("the last seat was sold 2 times"), "{text}");
    assert!(text.contains("\nreplays exactly: true\n"), "{text}");
    assert!(text.contains("\ncorrected: no bug in "), "{text}");
}

#[tokio::test]
async fn channels_carry_messages() {
    assert_eq!(printed("channel", &[]).await, "\"elkcubnrut\"\n");
}

#[tokio::test]
async fn host_asks_once_in_a_conversation_and_is_refused() {
    let text = printed("host", &[]).await;
    let lines: Vec<_> = text.lines().collect();
    let wanted = [
        "mirror__reverse of mirror",
        "words__count of words",
        "may mirror call reverse?",
        "elkcubnrut",
        "niaga",
        "may words call count?",
        "`call` is not allowed for server `words` (`count`)",
    ];
    assert_eq!(lines, wanted);
}

#[tokio::test]
async fn agent_works_with_the_tools_of_a_config_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let server = |name: &str| serde_json::json!({ "command": example(name) });
    let config = serde_json::json!({ "mcpServers": {
        "hello": server("hello"), "structured": server("structured"),
    }});
    std::fs::write(path("mcp.json"), config.to_string()).unwrap();
    let script = r#"
{"expect": "Ada", "text": "One moment.", "calls": [{"name": "hello__greet", "arguments": {"name": "Ada"}}]}
{"expect": "Hello, Ada!", "text": "{{result}} That is all."}
"#;
    std::fs::write(path("script.jsonl"), script).unwrap();
    let model = format!("scripted:{}", path("script.jsonl"));
    let text = printed("agent", &[&path("mcp.json"), &model, "Greet Ada"]).await;
    let wanted = "One moment.[hello__greet]\nHello, Ada! That is all.\nDone(EndTurn)\n";
    assert_eq!(text, wanted);
}

#[tokio::test]
async fn skills_are_found_loaded_and_verified() {
    let text = printed("skills", &[]).await;
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with("code-review: How this team"), "{text}");
    assert_eq!(lines.last(), Some(&"1. Does it have a test?"));
}

#[tokio::test]
async fn traces_go_through_both_servers() {
    let text = printed("traces", &[]).await;
    let mut lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.remove(0), "we offer tea: 7 (part of a trace: true)");
    assert_eq!(lines.pop(), Some("1 trace"));
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "Client tools/call offer",
            "Client tools/call price",
            "Server tools/call offer",
            "Server tools/call price",
        ]
    );
}

#[tokio::test]
async fn a_live_resource_is_heard_of() {
    let text = printed("live_resource", &[]).await;
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].contains("door://count"), "{text}");
    assert!(lines[1].contains("\"1\""), "{text}");
    assert!(lines[2].contains("times"), "{text}");
    assert_eq!(lines[3], "true");
}

/// The program sets no `tracing` subscriber, so the log goes to stderr.
#[tokio::test]
async fn a_fault_is_on_stderr_under_the_number_that_the_model_reads() {
    let mut program = Command::new(example("errors"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the example starts");
    let mut stdin = program.stdin.take().expect("a pipe");
    let call = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "save", "arguments": { "title": "milk" },
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}
            }
        }
    });
    stdin
        .write_all(format!("{call}\n").as_bytes())
        .await
        .expect("it reads");
    drop(stdin);
    let output = tokio::time::timeout(TIMEOUT, program.wait_with_output())
        .await
        .expect("it ends with its input")
        .expect("it can be waited for");
    let answer: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("one answer in JSON");
    let text = answer["result"]["content"][0]["text"]
        .as_str()
        .expect("the model reads a text");
    let (_, number) = text.rsplit_once(' ').expect("the number is last");
    assert!(!text.contains("milk") && !text.contains("folder"), "{text}");
    let log = String::from_utf8_lossy(&output.stderr);
    let line = format!("fault {number}: milk cannot be saved: ");
    assert!(log.contains(&line), "{log}");
}

#[tokio::test]
async fn plugins_are_heard_of_by_a_client_of_an_empty_server() {
    let text = printed("plugins", &[]).await;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines,
        [
            "0 tools at the start",
            "ToolsChanged",
            "2 tools after the plugin",
            "format ran"
        ]
    );
}

#[tokio::test]
async fn visibility_depends_on_the_caller() {
    let text = printed("visibility", &[]).await;
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "grace sees open, demolish",
            "grace: opened for grace",
            "grace: gone"
        ]
    );
    assert_eq!(lines[3..5], ["ada sees open", "ada: opened for ada"]);
    assert!(lines[5].contains("there is no tool `demolish`"), "{text}");
}

#[tokio::test]
async fn socket_serves_each_connection() {
    let mut program = Command::new(example("socket"))
        .arg("127.0.0.1:0")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the example starts");
    let mut lines = BufReader::new(program.stdout.take().expect("it is piped")).lines();
    let line = lines.next_line().await.expect("it prints").expect("a line");
    let address = line.strip_prefix("listening on ").expect("the address");
    for _ in 0..2 {
        let stream = TcpStream::connect(address).await.expect("it listens");
        let own = stream
            .local_addr()
            .expect("an open socket has an address")
            .to_string();
        let client = Client::new("test", "1.0.0");
        let server = client
            .connect(stream.into_split())
            .await
            .expect("it answers");
        let output = server.call("whoami", ()).await.expect("it is called");
        assert_eq!(output.text(), own);
    }
}

#[tokio::test]
async fn protected_admits_clients_with_a_token() {
    let expected = "stranger: refused\nrobot\nrobot noted: buy milk\n";
    assert_eq!(printed("protected", &[]).await, expected);
}

#[tokio::test]
async fn authorization_server_says_where_it_is() {
    let mut program = Command::new(example("authorization_server"))
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the example starts");
    let mut lines = BufReader::new(program.stdout.take().expect("it is piped")).lines();
    let line = lines.next_line().await.expect("it prints").expect("a line");
    let url = line.strip_prefix("listening at ").expect("the issuer");
    let address = url.strip_prefix("http://").expect("plain HTTP");
    TcpStream::connect(address).await.expect("it listens");
}

#[tokio::test]
async fn a_web_app_serves_its_site_tools_and_pages_of_one_origin() {
    let mut program = Command::new(example("web_app"))
        .arg("127.0.0.1:0")
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the example starts");
    let mut lines = BufReader::new(program.stdout.take().expect("it is piped")).lines();
    let line = lines.next_line().await.expect("it prints").expect("a line");
    let url = line.strip_prefix("listening on ").expect("the address");

    let client = Client::new("test", "1.0.0");
    let server = client.connect(url).await.expect("it answers");
    let output = server.call("add", json!({ "a": 2, "b": 3 })).await;
    assert_eq!(output.expect("it is called").text(), "5");

    let address = url.strip_prefix("http://").expect("plain HTTP");
    let (address, path) = address.split_once('/').expect("it has a path");
    let site = raw(address, "GET / HTTP/1.1\r\n").await;
    assert!(site.ends_with("the site"), "{site}");
    let ask = |origin: &str| {
        format!(
            "OPTIONS /{path} HTTP/1.1\r\norigin: {origin}\r\naccess-control-request-method: POST\r\n\
             access-control-request-headers: mcp-method, mcp-param-region\r\n"
        )
    };
    let allowed = raw(address, &ask("https://app.example.com")).await;
    let origin = "access-control-allow-origin: https://app.example.com\r\n";
    assert!(allowed.contains(origin), "{allowed}");
    assert!(allowed.contains("mcp-param-region"), "{allowed}");
    assert!(
        allowed.contains("access-control-expose-headers: mcp-session-id"),
        "{allowed}"
    );
    let refused = raw(address, &ask("https://evil.example")).await;
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
}

/// Sends the head of a request and reads the whole answer.
async fn raw(address: &str, head: &str) -> String {
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    let request = format!("{head}host: {address}\r\nconnection: close\r\n\r\n");
    let written = stream.write_all(request.as_bytes()).await;
    written.expect("it reads");
    let mut answer = String::new();
    let read = tokio::time::timeout(TIMEOUT, stream.read_to_string(&mut answer)).await;
    read.expect("it answers in time").expect("it answers");
    answer
}
