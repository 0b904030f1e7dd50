//! Servers that die, hang, flood or never start do not affect each other, and neither do large
//! numbers of them.

use std::{path::Path, time::Duration};

use serde_json::json;
use tokio::time::Instant;
use turnbuckle_host::{
    ActionKind, ConsentAnswer, FailureKind, Host, HostError, Pacing, Rules, Scope, ServerSpec,
    ServerState, StateChange, client::CallError, protocol::Root,
};
use turnbuckle_transport::duplex;

use crate::{
    person::{Person, shared},
    program::{arguments, quick, server, trusting, until, until_ready, within},
};

#[tokio::test]
async fn a_server_that_dies_in_a_call_fails_that_call_and_is_started_again() {
    let host = trusting()
        .server("mortal", server(&[]))
        .server("other", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    let mut states = host.states();
    let error = within("the call", host.call("mortal__die", ())).await;
    let Err(HostError::Call(CallError::Closed { ending, .. })) = &error else {
        panic!("{error:?}")
    };
    let words = ending.stderr.join("\n");
    assert!(words.contains("the last words"), "{words}");
    let output = within(
        "a call of the other",
        host.call("other__echo", json!({"text": "hi"})),
    );
    assert_eq!(output.await.unwrap().text(), "hi");

    // The state contains the reason and the last lines that the process printed.
    let failure = within("the failure", async {
        loop {
            if let Some(StateChange::State(id, ServerState::Restarting { failure, .. })) =
                states.next().await
            {
                assert_eq!(id.as_str(), "mortal");
                return failure;
            }
        }
    });
    let failure = failure.await;
    assert_eq!(failure.kind, FailureKind::Ended);
    assert_eq!(failure.stderr.last().unwrap(), "the last words");
    until_ready(&host, "mortal").await;
    let output = within(
        "a call",
        host.call("mortal__echo", json!({"text": "again"})),
    )
    .await;
    assert_eq!(output.unwrap().text(), "again");
    host.close().await;
}

#[tokio::test]
async fn what_was_allowed_once_is_not_asked_again_for_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::new(format!("file://{}", folder.path().display()));
    let person = shared(Person::who(ConsentAnswer::Allow(Scope::Once)));
    let host = trusting()
        .policy(Rules::new().allow(ActionKind::Call, "*", "*"))
        .user(person.clone())
        .server("mortal", server(&[]).root(root.clone()))
        .open()
        .await;
    until_ready(&host, "mortal").await;
    let asked = person.heard();
    assert_eq!(asked, ["start ".to_owned(), format!("root {}", root.uri)]);
    assert!(within("the call", host.call("die", ())).await.is_err());
    until(&host, "mortal", "the failure", |state| !state.is_ready()).await;
    until_ready(&host, "mortal").await;
    assert_eq!(person.heard(), asked);
    assert_eq!(host.roots_of("mortal"), [root]);
    host.close().await;
}

// rule: T10
#[tokio::test]
async fn a_call_that_hangs_ends_with_its_deadline_and_the_server_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let host = trusting()
        .server("slow", server(&["--record", record.to_str().unwrap()]))
        .server("other", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    let hung = host
        .call("slow__hang", ())
        .deadline(Duration::from_millis(50));
    let error = within("the deadline", hung).await;
    assert!(
        matches!(error, Err(HostError::Call(CallError::Deadline { .. }))),
        "{error:?}"
    );
    // Dropping a call cancels it too.
    let dropped = tokio::time::timeout(
        Duration::from_millis(50),
        IntoFuture::into_future(host.call("slow__hang", ())),
    );
    assert!(dropped.await.is_err());
    for name in ["slow__echo", "other__echo"] {
        let output = within("a call", host.call(name, json!({"text": "on"}))).await;
        assert_eq!(output.unwrap().text(), "on");
    }
    let heard = std::fs::read_to_string(&record).unwrap();
    assert_eq!(heard.matches("notifications/cancelled").count(), 2);
    host.close().await;
}

#[tokio::test]
async fn a_server_that_floods_does_not_affect_the_others() {
    let host = trusting()
        .server("flood", server(&[]))
        .server("other", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    let flood = host.clone();
    let flooding = tokio::spawn(async move { flood.call("flood__flood", ()).await });
    for _ in 0..20 {
        let output = within("a call", host.call("other__echo", json!({"text": "x"}))).await;
        assert_eq!(output.unwrap().text(), "x");
    }
    let output = within("the flood", flooding).await.unwrap();
    assert_eq!(output.unwrap().text(), "flooded");
    within(
        "a call after it",
        host.call("flood__echo", json!({"text": "x"})),
    )
    .await
    .unwrap();
    host.close().await;
}

#[tokio::test]
async fn a_server_that_never_answers_fails_by_itself() {
    let silent = server(&["--mode", "silent"]).start_timeout(Duration::from_millis(300));
    let host = trusting()
        .server("silent", silent)
        .server("other", server(&[]))
        .open()
        .await;
    until_ready(&host, "other").await;
    let state = until(&host, "silent", "the failure", |state| {
        state.failure().is_some()
    })
    .await;
    let failure = state.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::NotStarted);
    assert!(failure.reason.contains("did not answer"), "{failure}");
    host.close().await;
}

#[tokio::test]
async fn a_call_of_a_tool_whose_server_rests_is_told_so() {
    let pacing = Pacing {
        max_failures: 1,
        rest: Duration::from_mins(10),
        ..quick()
    };
    let host = trusting()
        .pacing(pacing)
        .server("mortal", server(&[]).exclude_tools(["hang"]))
        .server("other", server(&[]))
        .open()
        .await;
    within("start", host.ready()).await;
    assert!(
        within("the call", host.call("mortal__die", ()))
            .await
            .is_err()
    );
    until(&host, "mortal", "the rest", |state| {
        matches!(state, ServerState::Failed { .. })
    })
    .await;
    assert!(host.catalog().tool("mortal__echo").is_none());
    let error = within("the refusal", host.call("mortal__echo", ())).await;
    let Err(HostError::Unavailable { server, source }) = &error else {
        panic!("{error:?}")
    };
    assert_eq!(server.as_str(), "mortal");
    assert_eq!(source.stderr.last().unwrap(), "the last words");
    // A tool that is excluded, or that no server has, is still unknown.
    for name in ["mortal__hang", "other__nothing"] {
        let error = within("the refusal", host.call(name, ())).await;
        assert!(matches!(error, Err(HostError::Unknown { .. })), "{error:?}");
    }
    host.close().await;
}

/// The window is shorter than the time between failures, as it is by default for servers that never
/// answer.
fn narrow() -> Pacing {
    Pacing {
        max_failures: 3,
        window: Duration::from_millis(1_500),
        rest: Duration::from_mins(10),
        ..quick()
    }
}

#[tokio::test]
async fn a_server_that_never_answers_is_not_waited_for_and_rests_in_the_end() {
    let silent = server(&["--mode", "silent"]).start_timeout(Duration::from_secs(1));
    let host = trusting()
        .pacing(narrow())
        .server("silent", silent)
        .open()
        .await;
    within("the end of waiting", host.ready()).await;
    let error = within("the refusal", host.connection("silent")).await;
    assert!(
        matches!(&error, Err(HostError::Unavailable { source, .. }) if source.kind == FailureKind::NotStarted),
        "{error:?}"
    );
    let resting = |state: &ServerState| {
        matches!(
            state,
            ServerState::Failed {
                retry_after: Some(_),
                ..
            }
        )
    };
    until(&host, "silent", "the rest", resting).await;
    host.close().await;
}

#[tokio::test(start_paused = true)]
async fn servers_that_never_answer_are_waited_for_at_the_same_time() {
    let silent = || {
        ServerSpec::from_fn(|| {
            let (near, far) = duplex();
            tokio::spawn(async move {
                let _far = far;
                std::future::pending::<()>().await;
            });
            near.into()
        })
    };
    let mut builder = trusting();
    for number in 0..8 {
        builder = builder.server(format!("silent{number}"), silent());
    }
    let host = builder.open().await;
    let began = Instant::now();
    host.ready().await;
    let took = began.elapsed();
    assert!(took < Duration::from_secs(100), "{took:?}");
    host.close().await;
}

/// The default start timeout is longer than this test waits.
#[tokio::test]
async fn servers_that_never_answer_do_not_keep_another_from_starting() {
    let mut builder = trusting();
    for number in 0..8 {
        builder = builder.server(format!("silent{number}"), server(&["--mode", "silent"]));
    }
    let host = builder.server("good", server(&[])).open().await;
    until_ready(&host, "good").await;
    let output = within("a call", host.call("good__echo", json!({"text": "on"}))).await;
    assert_eq!(output.unwrap().text(), "on");
    host.close().await;
}

/// Some servers fail to start until another service is available.
#[tokio::test]
async fn a_server_that_fails_at_first_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("needed");
    let host = trusting()
        .pacing(Pacing {
            max_failures: 1_000,
            ..quick()
        })
        .server(
            "late",
            server(&["--fail-if-missing", file.to_str().unwrap()]),
        )
        .open()
        .await;
    until(&host, "late", "a failure", |state| {
        state.failure().is_some()
    })
    .await;
    std::fs::write(&file, "").unwrap();
    within("the start", host.ready()).await;
    assert!(host.state("late").unwrap().is_ready());
    host.close().await;
}

#[tokio::test]
async fn a_server_that_cannot_start_rests_after_some_attempts_and_calls_are_told_at_once() {
    let pacing = Pacing {
        max_failures: 3,
        rest: Duration::from_mins(10),
        ..quick()
    };
    let host = trusting()
        .pacing(pacing)
        .server("missing", server(&["--fail-if-missing", "/no/such/file"]))
        .open()
        .await;
    let resting = |state: &ServerState| {
        matches!(
            state,
            ServerState::Failed {
                retry_after: Some(_),
                ..
            }
        )
    };
    let state = until(&host, "missing", "the rest", resting).await;
    let failure = state.failure().unwrap();
    assert!(
        failure.stderr.contains(&"a file is missing".to_owned()),
        "{failure}"
    );
    assert!(host.catalog().tools().is_empty());
    let error = within("the refusal", host.connection("missing")).await;
    assert!(
        matches!(&error, Err(HostError::Unavailable { source, .. }) if source.kind == FailureKind::NotStarted),
        "{error:?}"
    );
    host.close().await;
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let spec = ServerSpec::command("no-such-program-at-all", ["x"]);
    let host = trusting()
        .server("absent", spec)
        .server("other", server(&[]))
        .open()
        .await;
    let state = until(&host, "absent", "the failure", |state| {
        state.failure().is_some()
    })
    .await;
    let reason = &state.failure().unwrap().reason;
    assert!(reason.contains("no-such-program-at-all"), "{reason}");
    until_ready(&host, "other").await;
    host.close().await;
}

#[tokio::test]
async fn a_disabled_server_is_not_started() {
    let host = trusting()
        .server("off", server(&[]).disabled())
        .open()
        .await;
    within("nothing to wait for", host.ready()).await;
    assert!(matches!(host.state("off"), Some(ServerState::Disabled)));
    let error = within("the refusal", host.connection("off")).await;
    assert!(matches!(error, Err(HostError::Unavailable { .. })));
    let error = within("the refusal", host.connection("none")).await;
    assert!(matches!(error, Err(HostError::NoServer { .. })));
}

/// Whether a process is running. A process that ended but was not reaped yet is not running.
fn is_running(pid: &str) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    !status.contains(") Z ")
}

async fn until_gone(pid: &str) {
    within("the end of the process", async {
        while is_running(pid) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

async fn with_pid(folder: &Path) -> (Host, String) {
    let file = folder.join("pid");
    let host = trusting()
        .server("mortal", server(&["--pid", file.to_str().unwrap()]))
        .open()
        .await;
    until_ready(&host, "mortal").await;
    (host, std::fs::read_to_string(file).unwrap())
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_process_outlives_its_host() {
    let folder = tempfile::tempdir().unwrap();
    let (host, pid) = with_pid(folder.path()).await;
    assert!(is_running(&pid));
    assert!(within("the removal", host.remove("mortal")).await);
    assert!(!is_running(&pid), "remove waits for the end");
    assert!(host.state("mortal").is_none());

    let (host, pid) = with_pid(folder.path()).await;
    within("the end", host.close()).await;
    assert!(!is_running(&pid), "close waits for the end");

    let (host, pid) = with_pid(folder.path()).await;
    drop(host);
    until_gone(&pid).await;
}

#[tokio::test]
async fn fifty_servers_run_at_once() {
    let mut builder = trusting();
    for number in 0..50 {
        let name = format!("s{number}");
        let spec = ServerSpec::command("python3", arguments(&["--name", &name]));
        builder = builder.server(name, spec);
    }
    let host = builder.open().await;
    within("the start of all", host.ready()).await;
    let ready = host.servers();
    assert!(
        ready.iter().all(|server| server.state.is_ready()),
        "{ready:?}"
    );
    let calls: Vec<_> = (0..50)
        .map(|number| {
            let host = host.clone();
            tokio::spawn(async move {
                let text = format!("text {number}");
                let call = host.call(format!("s{number}__echo"), json!({"text": text}));
                (text, call.await.unwrap().text())
            })
        })
        .collect();
    for call in calls {
        let (text, output) = within("a call", call).await.unwrap();
        assert_eq!(text, output);
    }
    assert_eq!(host.catalog().tools().len(), 50 * 11);
    within("the end of all", host.close()).await;
}
