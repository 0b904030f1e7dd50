//! What happens to processes and calls when servers and gateways end.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::json;
use turnbuckle_client::{Connection, Era};
use turnbuckle_gateway::{Gateway, Isolation, LiveGateway, UpstreamSettings};

use crate::{
    by_hand::{as_caller, call, keys, send, text},
    child, raw_child,
    raw_site::{begin, shared, tell, yes},
    site::{Door, Way, client, gateway_with, join, join_as},
};

/// The path of a file for this test alone, which does not exist yet.
fn fresh(name: &str) -> PathBuf {
    let name = format!("turnbuckle-gateway-{name}-{}", std::process::id());
    let file = std::env::temp_dir().join(name);
    let _ = std::fs::remove_file(&file);
    file
}

async fn raw(settings: UpstreamSettings, file: &Path) -> LiveGateway {
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("raw", raw_child::spec(file), settings)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    gateway
}

async fn pid(caller: &Connection) -> u32 {
    let told = send(caller, &call("pid", &json!({})))
        .await
        .expect("a result");
    text(&told).parse().expect("a number")
}

fn is_there(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn closing_a_gateway_ends_the_processes_of_all_callers() {
    let settings = UpstreamSettings::new().isolation(Isolation::Caller);
    let gateway = raw(settings, &fresh("close")).await;
    let (ada, eve) = (
        as_caller(&gateway, "ada").await,
        as_caller(&gateway, "eve").await,
    );
    let (adas, eves) = (pid(&ada).await, pid(&eve).await);
    assert_ne!(adas, eves, "each caller has a process");
    assert!(is_there(adas) && is_there(eves));
    gateway.close().await;
    assert!(!is_there(adas) && !is_there(eves));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn removing_a_server_ends_its_processes_with_the_calls_that_wait() {
    let settings = UpstreamSettings::new()
        .isolation(Isolation::Caller)
        .era(Era::Legacy);
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("one", child::spec(), settings)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    let ada = as_caller(&gateway, "ada").await;
    let asked = send(&ada, &call("form", &json!({})))
        .await
        .expect("a question");
    assert_eq!(keys(&asked).len(), 1);
    assert!(gateway.remove("one").await);
    // The call ended with its process.
    while gateway.parked() > 0 {
        tokio::task::yield_now().await;
    }
    gateway.close().await;
}

#[tokio::test]
async fn what_only_reads_runs_again_when_its_server_died_and_nothing_else_does() {
    let file = fresh("reading");
    let gateway = raw(UpstreamSettings::new(), &file).await;
    let ada = as_caller(&gateway, "ada").await;
    let read = send(&ada, &call("die_reading", &json!({}))).await;
    assert_eq!(text(&read.expect("a second run")), "alive");
    let runs = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(runs, "die_reading\ndie_reading\n");
    gateway.close().await;

    let file = fresh("once");
    let gateway = raw(UpstreamSettings::new(), &file).await;
    let ada = as_caller(&gateway, "ada").await;
    let lost = send(&ada, &call("die_once", &json!({}))).await;
    let lost = lost.expect_err("it may have run");
    assert_eq!(lost["code"], -32603, "{lost}");
    assert_eq!(lost["data"]["upstream"], "raw", "{lost}");
    assert_eq!(
        std::fs::read_to_string(&file).expect("a file"),
        "die_once\n"
    );
    // The next call starts the server again.
    let alive = send(&ada, &call("die_once", &json!({}))).await;
    assert_eq!(text(&alive.expect("a result")), "alive");
    gateway.close().await;
    let _ = std::fs::remove_file(file);
}

// A caller with its own process is notified of changes there, even though the lists are read in
// another one.
#[tokio::test]
async fn every_session_of_a_server_tells_of_changed_lists() {
    for era in [Era::Legacy, Era::Modern] {
        let settings = UpstreamSettings::new()
            .isolation(Isolation::Caller)
            .era(Era::Legacy);
        let gateway = Gateway::new("gateway", "1.0.0")
            .server_with("one", child::spec(), settings)
            .open()
            .expect("a gateway");
        gateway.settled().await;
        let ada = join_as(&client(era), &gateway, "ada").await;
        let listen = turnbuckle_client::Listen::lists();
        let mut changes = ada.listen(listen).await.expect("a stream");
        ada.call("grow", json!({})).await.expect("grown");
        loop {
            let change = changes.next().await.expect("a change").expect("a change");
            if matches!(change, turnbuckle_client::Change::ToolsChanged) {
                break;
            }
        }
        let tools = ada.tools().await.expect("tools");
        assert!(tools.iter().any(|tool| tool.name == "grown"), "{era:?}");
        // The process of the other caller has not changed.
        let other = join(&client(era), &gateway, Door::Lines).await;
        let tools = other.tools().await.expect("tools");
        assert!(!tools.iter().any(|tool| tool.name == "grown"), "{era:?}");
        gateway.close().await;
    }
}

#[tokio::test]
async fn one_change_is_told_to_each_caller_once_however_many_sessions_tell_of_it() {
    let settings = UpstreamSettings::new()
        .isolation(Isolation::Caller)
        .era(Era::Legacy);
    let gateway = gateway_with(Way::Http, settings).await;
    let mut callers = Vec::new();
    for number in 0..5 {
        let caller = join_as(&client(Era::Modern), &gateway, &format!("caller {number}")).await;
        // From here on the caller has its own session.
        let echoed = caller.call("echo", json!({ "text": "hi" }));
        echoed.await.expect("a result");
        let listen = turnbuckle_client::Listen::lists();
        let changes = caller.listen(listen).await.expect("a stream");
        callers.push((caller, changes));
    }
    // By then, changes since the gateway opened have been reported.
    for (_, changes) in &mut callers {
        let quiet = async { while changes.next().await.is_some() {} };
        let _ = tokio::time::timeout(Duration::from_millis(200), quiet).await;
    }
    callers[0].0.call("grow", json!({})).await.expect("grown");
    for (_, changes) in &mut callers {
        let mut told = 0;
        let listening = async {
            while let Some(Ok(change)) = changes.next().await {
                told += usize::from(matches!(change, turnbuckle_client::Change::ToolsChanged));
            }
        };
        let over = tokio::time::timeout(Duration::from_secs(1), listening).await;
        assert!(over.is_err(), "the stream ended");
        assert_eq!(told, 1);
    }
    gateway.close().await;
}

#[tokio::test]
async fn a_call_that_waits_ends_with_its_process() {
    let gateway = shared(Duration::from_mins(1)).await;
    let (ada, operator) = (
        as_caller(&gateway, "ada").await,
        as_caller(&gateway, "operator").await,
    );
    let begun = begin(&ada, &operator, "later", "ada").await;
    tell(&operator, "ask ada").await;
    let asked = begun.await.expect("no panic").expect("a question");
    let died = send(&operator, &call("die", &json!({}))).await;
    assert_eq!(died.expect_err("it died")["code"], -32603);
    let lost = send(&ada, &yes("later", "ada", &asked)).await;
    let lost = lost.expect_err("its server is gone");
    assert_eq!(lost["code"], -32603, "{lost}");
    assert_eq!(lost["data"]["upstream"], "raw", "{lost}");
    assert_eq!(gateway.parked(), 0);
    gateway.close().await;
}

#[tokio::test]
async fn a_call_that_another_gateway_kept_says_so() {
    let open = async || {
        let settings = UpstreamSettings::new().era(Era::Legacy);
        let gateway = Gateway::new("gateway", "1.0.0")
            .server_with("one", child::spec(), settings)
            .secret(b"0123456789abcdef0123456789abcdef")
            .open()
            .expect("a gateway");
        gateway.settled().await;
        gateway
    };
    let (first, second) = (open().await, open().await);
    let ada = as_caller(&first, "ada").await;
    let asked = send(&ada, &call("form", &json!({})))
        .await
        .expect("a question");
    first.close().await;
    let ada = as_caller(&second, "ada").await;
    let retry = crate::by_hand::retry("form", &asked, &keys(&asked));
    let lost = send(&ada, &retry).await.expect_err("it was kept elsewhere");
    assert_eq!(lost["code"], -32603, "{lost}");
    assert_eq!(lost["data"]["upstream"], "one", "{lost}");
    second.close().await;
}
