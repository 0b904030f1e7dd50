//! However a child is ended, none of its processes is left running.

use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;
use turnbuckle_transport::{Child, ChildReader, ChildWriter, Command, EndedBy, Pipes};

use crate::process_table::{MARK, eventually, is_reaped, mark, marked};
use crate::recorder::TIMEOUT;

/// Enough time for a shell on a busy machine to react.
const GRACE: Duration = Duration::from_secs(5);
/// Too short for anything that lasts its full time.
const SHORT: Duration = Duration::from_millis(200);

/// Starts a shell that has printed `ready`.
async fn shell(script: &str, mark: &str) -> (Child, BufReader<ChildReader>, ChildWriter) {
    let command = Command::new("sh")
        .args(["-c", script])
        .env(MARK, mark)
        .drop_grace(SHORT);
    let (child, Pipes { reader, writer }) = command.spawn().unwrap();
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    timeout(TIMEOUT, reader.read_line(&mut line))
        .await
        .expect("in time")
        .unwrap();
    assert_eq!(line, "ready\n");
    (child, reader, writer)
}

// rule: S2
// stdio, shutdown: close the input stream, wait for the exit, then terminate forcibly.
#[tokio::test]
async fn closing_the_input_is_enough_for_one_that_listens() {
    let mark = mark("listens");
    let (child, _reader, _writer) = shell("echo ready; cat; exit 3", &mark).await;
    let id = child.id();
    let ended = child.shutdown(GRACE).await;
    assert_eq!(
        (ended.by, ended.status.unwrap().code()),
        (EndedBy::Itself, Some(3))
    );
    assert!(is_reaped(id) && marked(&mark).is_empty());
}

#[tokio::test]
async fn a_sibling_does_not_keep_the_input_open() {
    let (first, _reader, _writer) = shell("echo ready; cat", "first").await;
    let (second, _reader, _writer) = shell("echo ready; cat", "second").await;
    assert_eq!(first.shutdown(GRACE).await.by, EndedBy::Itself);
    assert_eq!(second.shutdown(GRACE).await.by, EndedBy::Itself);
}

#[tokio::test]
async fn one_that_ignores_its_input_is_asked_to_go() {
    let script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done";
    let mark = mark("asked");
    let (child, _reader, _writer) = shell(script, &mark).await;
    let id = child.id();
    // The first step cannot succeed, so its full time passes; the second ends early.
    let ended = child.shutdown(Duration::from_secs(1)).await;
    assert_eq!(
        (ended.by, ended.status.unwrap().code()),
        (EndedBy::Terminate, Some(7))
    );
    assert!(is_reaped(id) && marked(&mark).is_empty());
}

// rule: S2
#[tokio::test]
async fn one_that_ignores_everything_is_killed_in_time() {
    let script = "trap '' TERM; echo ready; while :; do sleep 0.05; done";
    let mark = mark("ignores");
    let (child, _reader, _writer) = shell(script, &mark).await;
    let (id, began) = (child.id(), Instant::now());
    let ended = child.shutdown(SHORT).await;
    assert_eq!(
        (ended.by, ended.status.unwrap().signal()),
        (EndedBy::Kill, Some(9))
    );
    assert!(began.elapsed() < 2 * SHORT + Duration::from_secs(1));
    assert!(is_reaped(id));
    eventually("the sleep it had started is gone", || {
        marked(&mark).is_empty()
    });
}

#[tokio::test]
async fn a_wrapper_goes_with_the_server_it_started() {
    let mark = mark("wrapper");
    let (child, _reader, _writer) = shell("sleep 1000 & echo ready; wait", &mark).await;
    eventually("both run", || marked(&mark).len() == 2);
    let id = child.id();
    // The first step cannot succeed, so its full time passes; the second ends early.
    let ended = child.shutdown(Duration::from_secs(1)).await;
    assert_eq!(ended.by, EndedBy::Terminate);
    assert!(is_reaped(id));
    eventually("the grandchild is gone", || marked(&mark).is_empty());
}

#[tokio::test]
async fn a_grandchild_that_ignores_everything_goes_too() {
    let script = "(trap '' TERM; echo ready; while :; do sleep 0.05; done) & wait";
    let mark = mark("stubborn");
    let (child, _reader, _writer) = shell(script, &mark).await;
    let id = child.id();
    assert_eq!(child.shutdown(SHORT).await.by, EndedBy::Kill);
    assert!(is_reaped(id));
    eventually("the grandchild is gone", || marked(&mark).is_empty());
}

#[tokio::test]
async fn a_grandchild_left_behind_is_ended_and_does_not_hold_the_output() {
    let mark = mark("left");
    let (child, mut reader, _writer) = shell("sleep 1000 & echo ready; exit 0", &mark).await;
    assert!(
        timeout(TIMEOUT, child.exited())
            .await
            .unwrap()
            .unwrap()
            .success()
    );
    eventually("the grandchild runs", || marked(&mark).len() == 1);
    child.shutdown(SHORT).await;
    eventually("the grandchild is gone", || marked(&mark).is_empty());
    let mut rest = String::new();
    timeout(TIMEOUT, reader.read_to_string(&mut rest))
        .await
        .expect("it ends")
        .unwrap();
}

#[tokio::test]
async fn one_that_has_left_the_group_does_not_hold_up_anything() {
    let mark = mark("daemon");
    let (child, mut reader, _writer) = shell("setsid sleep 30 & echo ready; cat", &mark).await;
    eventually("the daemon has left the group", || {
        let others = marked(&mark).into_iter().filter(|id| *id != child.id());
        let mut groups = others.map(|id| std::fs::read_to_string(format!("/proc/{id}/stat")));
        groups.any(|stat| stat.is_ok_and(|stat| stat.contains("(sleep)")))
    });
    timeout(TIMEOUT, child.shutdown(GRACE))
        .await
        .expect("it does not wait for the daemon");
    let mut rest = String::new();
    timeout(TIMEOUT, reader.read_to_string(&mut rest))
        .await
        .expect("it ends")
        .unwrap();
    let daemons = marked(&mark);
    assert_eq!(daemons.len(), 1, "documented: it is not ended");
    for daemon in daemons {
        std::process::Command::new("kill")
            .arg(daemon.to_string())
            .status()
            .unwrap();
    }
}

#[tokio::test]
async fn what_was_printed_last_is_read_after_the_end() {
    let script = "echo ready; cat; printf '%070000d' 1";
    let (child, mut reader, _writer) = shell(script, "last").await;
    let ending = tokio::spawn(child.shutdown(GRACE));
    let mut rest = String::new();
    timeout(TIMEOUT, reader.read_to_string(&mut rest))
        .await
        .expect("it ends")
        .unwrap();
    assert_eq!(rest.len(), 70_000);
    assert_eq!(ending.await.unwrap().by, EndedBy::Itself);
}

#[tokio::test]
async fn a_writer_that_waits_for_a_child_that_does_not_read_is_told() {
    let script = "echo ready; exec sleep 1000";
    let (child, _reader, mut writer) = shell(script, "deaf").await;
    let writing = tokio::spawn(async move { writer.write_all(&vec![b'x'; 1_000_000]).await });
    tokio::task::yield_now().await;
    child.shutdown(SHORT).await;
    let written = timeout(TIMEOUT, writing).await.expect("told").unwrap();
    assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn dropping_it_ends_the_group_without_blocking() {
    let mark = mark("drop");
    let script = "trap '' TERM; sleep 1000 & echo ready; while :; do sleep 0.05; done";
    let (child, _reader, _writer) = shell(script, &mark).await;
    let (id, began) = (child.id(), Instant::now());
    drop(child);
    assert!(began.elapsed() < SHORT / 2, "dropping does not wait");
    eventually("all are gone", || marked(&mark).is_empty() && is_reaped(id));
}

#[tokio::test]
async fn a_shutdown_that_is_dropped_goes_on() {
    let mark = mark("dropped-shutdown");
    let (child, _reader, _writer) = shell("sleep 1000 & echo ready; wait", &mark).await;
    let id = child.id();
    assert!(
        timeout(Duration::from_millis(1), child.shutdown(SHORT))
            .await
            .is_err()
    );
    eventually("all are gone", || marked(&mark).is_empty() && is_reaped(id));
}

#[test]
fn a_panic_ends_the_group() {
    let mark = mark("panic");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let id = std::sync::atomic::AtomicU32::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        runtime.block_on(async {
            let (child, _reader, _writer) = shell("sleep 1000 & echo ready; wait", &mark).await;
            id.store(child.id(), std::sync::atomic::Ordering::Relaxed);
            panic!("in the middle of a call");
        });
    }));
    assert!(panicked.is_err());
    eventually("all are gone", || {
        marked(&mark).is_empty() && is_reaped(id.load(std::sync::atomic::Ordering::Relaxed))
    });
}

#[test]
fn a_child_that_outlives_its_runtime_is_ended() {
    let mark = mark("runtime");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let (child, reader, writer) = runtime.block_on(shell("sleep 1000 & echo ready; wait", &mark));
    let id = child.id();
    drop(runtime);
    drop((child, reader, writer));
    eventually("all are gone", || marked(&mark).is_empty() && is_reaped(id));
}

#[test]
fn a_runtime_that_goes_away_ends_the_children_in_its_tasks() {
    let mark = mark("task");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let (sender, id) = std::sync::mpsc::channel();
    runtime.spawn({
        let mark = mark.clone();
        async move {
            let held = shell("sleep 1000 & echo ready; wait", &mark).await;
            sender.send(held.0.id()).unwrap();
            std::future::pending::<()>().await;
            drop(held);
        }
    });
    let id = id.recv_timeout(TIMEOUT).unwrap();
    drop(runtime);
    eventually("all are gone", || marked(&mark).is_empty() && is_reaped(id));
}

#[tokio::test]
async fn a_child_that_exits_at_once_is_reaped() {
    let (
        child,
        Pipes {
            mut reader,
            mut writer,
        },
    ) = Command::new("true").spawn().unwrap();
    let status = timeout(TIMEOUT, child.exited()).await.expect("in time");
    assert!(status.unwrap().success());
    assert_eq!(child.exit_status(), status);
    assert_eq!(reader.read(&mut [0]).await.unwrap(), 0);
    let written = writer.write_all(b"{}\n").await;
    assert_eq!(written.unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    let id = child.id();
    assert!(!is_reaped(id), "its number is held while the guard lives");
    let ended = child.shutdown(GRACE).await;
    assert_eq!((ended.by, ended.status), (EndedBy::Itself, status));
    assert!(is_reaped(id));
}
