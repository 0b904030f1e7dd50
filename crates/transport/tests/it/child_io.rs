//! Communication with a child, and its other output.

use std::time::Duration;

use tokio::time::timeout;
use turnbuckle_transport::{Command, EndedBy, Limits, Outbox, Pipes, Stderr, run};

use crate::recorder::{Event, Recorder, TIMEOUT, message};

const GRACE: Duration = Duration::from_secs(5);

fn shell(script: &str) -> Command {
    Command::new("sh").args(["-c", script])
}

#[tokio::test]
async fn messages_go_there_and_back_and_late_answers_are_heard() {
    // `cat` answers, and the last answer comes after the end of the input.
    let (child, Pipes { reader, writer }) = shell("cat; echo '{\"late\":1}'").spawn().unwrap();
    let outbox = Outbox::new(Limits::default());
    let (recorder, events) = Recorder::new(&outbox);
    let connection = run(reader, writer, recorder, outbox.clone(), Limits::default());
    let connection = tokio::spawn(connection);
    for number in 0..1_000 {
        outbox
            .send(format!("{{\"id\":{number}}}").as_bytes())
            .await
            .unwrap();
    }
    outbox.close();
    timeout(TIMEOUT, connection)
        .await
        .expect("in time")
        .unwrap()
        .unwrap();
    let events = events.rest().await;
    assert_eq!(events.len(), 1_002);
    assert_eq!(events[999], message("{\"id\":999}"));
    assert_eq!(events[1_000..], [message("{\"late\":1}"), Event::Closed]);
    assert_eq!(child.shutdown(GRACE).await.by, EndedBy::Itself);
}

#[tokio::test]
async fn a_connection_ends_with_its_child() {
    let (child, Pipes { reader, writer }) = shell("exec sleep 1000").spawn().unwrap();
    let outbox = Outbox::new(Limits::default());
    let (recorder, events) = Recorder::new(&outbox);
    let connection = run(reader, writer, recorder, outbox.clone(), Limits::default());
    let connection = tokio::spawn(connection);
    child.shutdown(Duration::from_millis(50)).await;
    timeout(TIMEOUT, connection)
        .await
        .expect("in time")
        .unwrap()
        .unwrap();
    assert_eq!(events.rest().await, [Event::Closed]);
    assert!(outbox.is_closed());
}

#[tokio::test]
async fn standard_error_is_kept_up_to_a_bound() {
    let script = "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done >&2";
    let (child, _pipes) = shell(script).spawn().unwrap();
    let log = child.stderr().clone();
    child.shutdown(GRACE).await;
    let lines = log.lines();
    assert_eq!(lines.len(), 1_000);
    assert_eq!(
        (lines[0].number, lines[0].text.as_str()),
        (4_000, "line 4000")
    );
    assert_eq!(log.tail(2), "line 4998\nline 4999");
    let mut cursor = log.follow();
    assert_eq!(cursor.next().await.unwrap().number, 4_000);
}

#[tokio::test]
async fn long_lines_of_standard_error_are_cut_and_count_in_bytes() {
    let script = "i=0; while [ $i -lt 50 ]; do printf '%020000d\\n' 7; i=$((i+1)); done >&2; \
                  printf 'no line end' >&2";
    let (child, _pipes) = shell(script).spawn().unwrap();
    let log = child.stderr().clone();
    child.shutdown(GRACE).await;
    let lines = log.lines();
    let bytes: usize = lines.iter().map(|line| line.text.len()).sum();
    assert!(bytes <= 256 * 1024, "{bytes}");
    assert!(lines[0].is_cut && lines[0].text.len() == 8 * 1024);
    let last = lines.last().unwrap();
    assert_eq!(
        (last.number, last.text.as_str(), last.is_cut),
        (50, "no line end", false)
    );
}

#[tokio::test]
async fn standard_error_can_be_followed_while_it_comes() {
    let (child, pipes) = shell("echo one >&2; read go; echo two >&2")
        .spawn()
        .unwrap();
    let mut cursor = child.stderr().follow();
    assert_eq!(
        timeout(TIMEOUT, cursor.next()).await.unwrap().unwrap().text,
        "one"
    );
    drop(pipes.writer); // The end of input ends the `read`.
    assert_eq!(
        timeout(TIMEOUT, cursor.next()).await.unwrap().unwrap().text,
        "two"
    );
    assert_eq!(timeout(TIMEOUT, cursor.next()).await.unwrap(), None);
}

#[tokio::test]
async fn standard_error_that_is_not_captured_is_empty() {
    let (child, _pipes) = shell("echo lost >&2").stderr(Stderr::Null).spawn().unwrap();
    assert_eq!(
        timeout(TIMEOUT, child.stderr().follow().next())
            .await
            .unwrap(),
        None
    );
    let log = child.stderr().clone();
    child.shutdown(GRACE).await;
    assert!(log.lines().is_empty());
}
