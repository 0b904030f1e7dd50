//! Calls that come while their server starts again, with other definitions than before.

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::json;
use turnbuckle_client::Era;
use turnbuckle_gateway::{
    Gateway, LiveGateway,
    lock::{Lock, LockMode},
    operation::{Operation, Policy, PolicyRule},
};
use turnbuckle_host::ServerSpec;

use crate::by_hand::{as_nobody, call, request};

/// A server that answers calls at once, and lists its tools after a moment. A file has the title of one of them, and
/// another one ends it.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"slow","version":"1"}}}' ;;
    *'"tools/list"'*) sleep 0.3; echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"add","annotations":{"title":"'$(cat "$0")'"},"inputSchema":{"type":"object"}},{"name":"echo","inputSchema":{"type":"object"}},{"name":"die","inputSchema":{"type":"object"}}]}}' ;;
    *'"name":"die"'*) exit ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}' ;;
  esac
done
"#;

/// Changes the title of `add`, ends the server, and calls both tools before it is ready again. Returns the errors.
async fn called_at_the_restart(gateway: Gateway, title: &Path) -> [Option<String>; 2] {
    std::fs::write(title, "first").expect("a file");
    let title_name = title.to_str().expect("a path of Unicode");
    let spec = ServerSpec::command("sh", ["-c", SERVER, title_name]);
    let gateway = gateway.server("one", spec).open().expect("a gateway");
    gateway.settled().await;
    let client = as_nobody(&gateway, Era::Modern).await;
    let called = async |name: &str| {
        let answer = request(&client, "tools/call", &call(name, &json!({}))).await;
        Some(
            answer.err()?["message"]
                .as_str()
                .expect("a text")
                .to_owned(),
        )
    };
    for name in ["add", "echo"] {
        assert_eq!(called(name).await, None, "{name}");
    }
    std::fs::write(title, "second").expect("a file");
    assert!(called("die").await.is_some());
    while is_ready(&gateway) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let errors = tokio::join!(called("add"), called("echo"));
    gateway.close().await;
    errors.into()
}

fn is_ready(gateway: &LiveGateway) -> bool {
    gateway.states()[0].1.is_ready()
}

#[tokio::test]
async fn a_tool_that_differs_after_a_restart_is_withheld_from_waiting_calls() {
    let folder = tempfile::tempdir().expect("a folder");
    let lock = folder.path().join("turnbuckle.lock");
    let lock = Lock::open(&lock, LockMode::Enforce).expect("a lock file");
    let gateway = Gateway::new("gateway", "1").lock(lock);
    let [add, echo] = called_at_the_restart(gateway, &folder.path().join("title")).await;
    let add = add.expect("it is withheld");
    assert!(add.contains("is withheld"), "{add}");
    assert_eq!(echo, None);
}

#[tokio::test]
async fn rules_do_not_judge_waiting_calls_by_what_a_tool_was_before_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let policy = Policy::new().rule(PolicyRule::for_all().deny(["other"]));
    let operation = Arc::new(Operation::new().policy(policy));
    let gateway = Gateway::new("gateway", "1").operation(operation);
    let [add, echo] = called_at_the_restart(gateway, &folder.path().join("title")).await;
    let add = add.expect("it has to be judged again");
    assert!(add.contains("try again"), "{add}");
    assert_eq!(echo, None);
}
