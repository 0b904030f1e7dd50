//! Servers that are started by the first call that needs them.

use std::{path::PathBuf, time::Duration};

use serde_json::json;
use turnbuckle_host::{ServerState, Start};

use crate::program::{server, trusting, within};

#[tokio::test]
async fn a_server_on_demand_starts_when_it_is_needed() {
    let host = trusting()
        .server("lazy", server(&[]).start(Start::OnDemand))
        .open()
        .await;
    within("nothing to wait for", host.ready()).await;
    assert!(matches!(host.state("lazy"), Some(ServerState::Idle)));
    assert!(host.catalog().tools().is_empty());
    within("the start", host.start("lazy")).await.unwrap();
    assert!(host.catalog().tool("echo").is_some());
    host.close().await;
}

#[tokio::test]
async fn a_server_on_demand_is_in_the_catalog_from_the_last_run_and_started_by_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let spec = server(&["--tools", "2"]).start(Start::OnDemand);
        trusting().keep_lists(folder.path()).server("lazy", spec)
    };
    let host = open().open().await;
    within("the start", host.start("lazy")).await.unwrap();
    // The file has another name until it is complete.
    let is_kept = |path: PathBuf| path.extension().is_some_and(|it| it == "json");
    let has_lists = || {
        let mut files = std::fs::read_dir(folder.path()).unwrap();
        files.any(|file| is_kept(file.unwrap().path()))
    };
    within("the file", async {
        while !has_lists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    host.close().await;
    let host = open().open().await;
    assert!(matches!(host.state("lazy"), Some(ServerState::Idle)));
    assert!(host.catalog().tool("extra_1").is_some());
    let output = within("a call", host.call("extra_1", ())).await.unwrap();
    assert_eq!(output.text(), "called extra_1");
    assert!(matches!(
        host.state("lazy"),
        Some(ServerState::Ready(_) | ServerState::Starting)
    ));
    host.close().await;
}

#[tokio::test]
async fn a_server_on_demand_that_died_is_started_for_a_call_that_comes_at_once() {
    let spec = server(&[]).start(Start::OnDemand);
    let host = trusting().server("lazy", spec).open().await;
    within("the start", host.start("lazy")).await.unwrap();
    // As often as the server may fail before it rests.
    for _ in 0..4 {
        let died = within("the call", host.call("die", ())).await;
        assert!(died.is_err(), "{died:?}");
        let again = host.call("echo", json!({"text": "again"}));
        assert_eq!(within("a call", again).await.unwrap().text(), "again");
    }
    host.close().await;
}

#[tokio::test]
async fn a_server_on_demand_that_dies_before_it_is_ready_is_started_again_for_those_who_wait() {
    let folder = tempfile::tempdir().unwrap();
    let flag = folder.path().join("died");
    let options = ["--die-once", flag.to_str().unwrap()];
    let spec = server(&options).start(Start::OnDemand);
    let host = trusting().server("lazy", spec).open().await;
    let both = async { tokio::join!(host.start("lazy"), host.start("lazy")) };
    let (one, other) = within("the start", both).await;
    one.unwrap();
    other.unwrap();
    assert!(flag.exists());
    assert!(host.catalog().tool("echo").is_some());
    host.close().await;
}

#[tokio::test]
async fn calls_at_a_server_on_demand_that_always_dies_are_told() {
    let spec = server(&["--die-once", "/no/such/folder/died"]).start(Start::OnDemand);
    let host = trusting().server("lazy", spec).open().await;
    let error = within("the error", host.start("lazy")).await.unwrap_err();
    assert!(error.to_string().contains("lazy"), "{error}");
    host.close().await;
}
