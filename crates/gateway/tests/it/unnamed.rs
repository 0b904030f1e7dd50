//! Requests whose name is not text. No rule and no lock can judge them, so no server gets them.

use std::{path::Path, sync::Arc};

use serde_json::value::RawValue;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use turnbuckle_client::{Connection, Era};
use turnbuckle_gateway::{
    Gateway, LiveGateway,
    lock::{Lock, LockMode},
    operation::{Operation, Policy, PolicyRule},
};
use turnbuckle_host::ServerSpec;

use crate::{
    by_hand::{as_nobody, request_text},
    site::listen,
};

/// A server that serves whatever it is asked for, and writes each such request to the file `$SERVED`.
pub(crate) const LENIENT: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{"subscribe":true},"completions":{}},"serverInfo":{"name":"lenient","version":"1"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"danger","inputSchema":{"type":"object"}},{"name":"safe","inputSchema":{"type":"object"}}]}}' ;;
    *'"prompts/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"prompts":[]}}' ;;
    *'"resources/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"resources":[]}}' ;;
    *'"resources/templates/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"resourceTemplates":[]}}' ;;
    *'"server/discover"'*|*'"ping"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}' ;;
    *'"id"'*) printf '%s\n' "$line" >> "$SERVED"; echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}' ;;
  esac
done
"#;

/// Requests with members that a lenient server could serve, and the member that is wrong.
const REQUESTS: [(&str, &str, &str); 13] = [
    ("tools/call", r#""name":["danger"]"#, "name"),
    ("tools/call", r#""name":{"a":"danger"}"#, "name"),
    ("tools/call", r#""name":null"#, "name"),
    ("tools/call", r#""name":"danger\ud800""#, "name"),
    ("tools/call", r#""arguments":{}"#, "name"),
    ("prompts/get", r#""name":["danger"]"#, "name"),
    ("resources/read", r#""uri":["file:///secret/a"]"#, "uri"),
    (
        "resources/read",
        r#""uri":"file:///secret/a#\ud800""#,
        "uri",
    ),
    (
        "resources/subscribe",
        r#""uri":["file:///secret/a"]"#,
        "uri",
    ),
    ("resources/unsubscribe", r#""uri":1"#, "uri"),
    (
        "completion/complete",
        r#""ref":{"type":"ref/prompt","name":"safe","name":"danger"}"#,
        "ref",
    ),
    (
        "completion/complete",
        r#""ref":{"type":"ref/prompt","name":["danger"]}"#,
        "ref",
    ),
    (
        "completion/complete",
        r#""ref":{"type":"ref/resource","uri":"file:///secret/a\ud800"}"#,
        "ref",
    ),
];

/// What could judge a request.
#[derive(Clone, Copy, Debug)]
enum Judge {
    Nothing,
    Rules,
    Lock,
}

/// A gateway in front of the lenient server alone.
async fn gateway(folder: &Path, judge: Judge) -> LiveGateway {
    let served = folder.join("served");
    let command = format!("SERVED='{}'\n{LENIENT}", served.display());
    let mut gateway =
        Gateway::new("gateway", "1").server("one", ServerSpec::command("sh", ["-c", &command]));
    match judge {
        Judge::Nothing => {}
        Judge::Rules => {
            let rule = PolicyRule::for_all().deny(["danger", "resource:file:///secret/*"]);
            let operation = Operation::new().policy(Policy::new().rule(rule));
            gateway = gateway.operation(Arc::new(operation));
        }
        Judge::Lock => {
            let path = folder.join("turnbuckle.lock");
            gateway = gateway.lock(Lock::open(&path, LockMode::Enforce).expect("a lock file"));
        }
    }
    let gateway = gateway.open().expect("a gateway");
    gateway.settled().await;
    gateway
}

/// Sends a request with these members. Returns the code and the message of the error, if it is one.
async fn send(client: &Connection, method: &str, members: &str) -> Option<(i64, String)> {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let meta = if client.server().revision().is_modern() {
        meta
    } else {
        r#""_meta":{}"#
    };
    let params = RawValue::from_string(format!("{{{members},{meta}}}")).expect("JSON");
    let error = request_text(client, method, &params).await.err()?;
    let said = error["message"].as_str().expect("a message").to_owned();
    Some((error["code"].as_i64().expect("a code"), said))
}

#[tokio::test]
async fn a_request_whose_name_is_not_text_reaches_no_server() {
    for judge in [Judge::Nothing, Judge::Rules, Judge::Lock] {
        for era in [Era::Legacy, Era::Modern] {
            let folder = tempfile::tempdir().expect("a folder");
            let served = folder.path().join("served");
            let gateway = gateway(folder.path(), judge).await;
            let client = as_nobody(&gateway, era).await;
            for (method, members, wrong) in REQUESTS {
                if era == Era::Modern && method.ends_with("subscribe") {
                    continue;
                }
                let what = format!("{judge:?} {era:?} {method} {members}");
                let refused = send(&client, method, members).await;
                let (code, said) = refused.unwrap_or_else(|| panic!("{what} is served"));
                assert_eq!(code, -32602, "{what}: {said}");
                assert!(
                    said.contains(&format!("`params.{wrong}` must be")),
                    "{said}"
                );
                assert!(!served.exists(), "{what}");
            }
            // A pair of surrogates is a character.
            for members in [r#""name":"safe""#, r#""name":"saf\u0065\ud83d\ude00""#] {
                let refused = send(&client, "tools/call", members).await;
                if matches!(judge, Judge::Nothing) {
                    assert_eq!(refused, None, "{members}");
                    let served = std::fs::read_to_string(&served).expect("it is served");
                    assert!(served.contains(members), "not the same bytes: {served}");
                }
            }
            gateway.close().await;
        }
    }
}

/// Sends a message to a gateway. Returns the whole answer.
async fn post(url: &str, session: &str, body: &str) -> String {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{session}\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.expect("it listens");
    stream.write_all(head.as_bytes()).await.expect("it reads");
    stream.write_all(body.as_bytes()).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("UTF-8");
    answer
}

#[tokio::test]
async fn such_a_request_of_a_batch_reaches_no_server_either() {
    let folder = tempfile::tempdir().expect("a folder");
    let gateway = gateway(folder.path(), Judge::Rules).await;
    let url = listen(gateway.server().clone()).await;
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#;
    let answer = post(&url, "", hello).await;
    let session = answer
        .lines()
        .find(|line| line.starts_with("mcp-session-id"));
    let session = format!("{}\r\n", session.expect("a session"));
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    post(&url, &session, ready).await;
    let calls = r#"[{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":["danger"]}},{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"file:///secret/a#\ud800"}}]"#;
    let answer = post(&url, &session, calls).await;
    assert_eq!(answer.matches("-32602").count(), 2, "{answer}");
    assert!(!folder.path().join("served").exists(), "{answer}");
}
