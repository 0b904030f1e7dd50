//! A real server process: the test binary, started again by its tests.

use std::io::{Read, Write};
use std::process::Command as StdCommand;
use std::time::Duration;

use tokio::time::timeout;
use turnbuckle_transport::{
    Child, Command, EndedBy, Limits, Outbox, Pipes, TransportError, run, serve_stdio,
};

use crate::recorder::{Event, Events, Recorder, TIMEOUT};

/// What the server process does besides echoing.
const ROLE: &str = "TURNBUCKLE_TEST_ROLE";

fn server(role: &str) -> Command {
    let binary = std::env::current_exe().unwrap();
    let args = [
        "--ignored",
        "--exact",
        "stdio_process::server_process",
        "--nocapture",
    ];
    Command::new(binary).args(args).env(ROLE, role)
}

#[test]
#[ignore = "the server that the other tests start"]
fn server_process() {
    println!(); // Ends whatever the test harness has printed on this line.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    match std::env::var(ROLE).as_deref() {
        Ok("noisy") => runtime.block_on(serve_noisily()),
        Ok("dropped") => runtime.block_on(serve_and_drop()),
        Ok("twice") => runtime.block_on(serve_twice()),
        other => panic!("no such role: {other:?}"),
    }
}

/// Does everything with the protocol's streams that a careless handler can do.
async fn serve_noisily() {
    let outbox = Outbox::new(Limits::default());
    let (recorder, _events) = Recorder::answering(&outbox, |message, outbox| {
        println!("a stray line");
        print!("half a stray line");
        let shell = StdCommand::new("sh")
            .args(["-c", "echo stray from a child; cat"])
            .status();
        assert!(shell.unwrap().success());
        let mut stolen = String::new();
        std::io::stdin().read_to_string(&mut stolen).unwrap();
        outbox.push(format!("{{\"stolen\":{:?}}}", stolen.len()).as_bytes());
        outbox.push(message);
    });
    serve_stdio(recorder, outbox, Limits::default())
        .await
        .unwrap();
    println!("\ngiven back");
}

async fn serve_and_drop() {
    let outbox = Outbox::new(Limits::default());
    let (recorder, mut events) = Recorder::echoing(&outbox);
    {
        let served = serve_stdio(recorder, outbox.clone(), Limits::default());
        // When the second message has arrived, the first was answered.
        let second = async {
            events.next().await;
            events.next().await
        };
        tokio::pin!(served, second);
        tokio::select! {
            _ = &mut served => panic!("the client has not hung up"),
            event = &mut second => assert!(matches!(event, Event::Message(_))),
        }
        // Wait until the answer is written, then drop the future while the reading thread is reading.
        while outbox.pending_bytes() > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    println!("\n{{\"dropped\":true}}");
    std::io::stdout().flush().unwrap();
    // The process ends here, although its input is still open.
}

async fn serve_twice() {
    let outbox = Outbox::new(Limits::default());
    let (recorder, _events) = Recorder::echoing(&outbox);
    let first = tokio::spawn(serve_stdio(recorder, outbox.clone(), Limits::default()));
    tokio::task::yield_now().await;
    let other = Outbox::new(Limits::default());
    let (recorder, _other_events) = Recorder::echoing(&other);
    let second = serve_stdio(recorder, other, Limits::default()).await;
    assert!(
        matches!(second, Err(TransportError::StdioInUse)),
        "{second:?}"
    );
    outbox.push(b"{\"refused\":true}");
    first.await.unwrap().unwrap();
}

/// Starts a server and a connection to it.
fn connect(role: &str) -> (Child, Outbox, Events) {
    let (child, Pipes { reader, writer }) = server(role).spawn().unwrap();
    let outbox = Outbox::new(Limits::default());
    let (recorder, events) = Recorder::new(&outbox);
    tokio::spawn(run(
        reader,
        writer,
        recorder,
        outbox.clone(),
        Limits::default(),
    ));
    (child, outbox, events)
}

/// Returns the next line that could be a protocol message; the first lines are from the test harness.
async fn next_object(events: &mut Events) -> String {
    loop {
        match events.next().await {
            Event::Message(text) if text.starts_with('{') => return text,
            Event::Message(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

// rule: S1
// stdio: the server MUST NOT write anything to its stdout that is not a valid MCP message.
#[tokio::test]
async fn nothing_a_handler_does_reaches_the_protocol() {
    let (child, outbox, mut events) = connect("noisy");
    outbox.send(b"{\"id\":1}").await.unwrap();
    assert_eq!(next_object(&mut events).await, "{\"stolen\":0}");
    assert_eq!(events.next().await, Event::Message("{\"id\":1}".to_owned()));
    for _ in 0..3 {
        outbox.send(b"{\"id\":2}").await.unwrap();
        assert_eq!(
            events.next().await,
            Event::Message("{\"stolen\":0}".to_owned())
        );
        assert_eq!(events.next().await, Event::Message("{\"id\":2}".to_owned()));
    }
    outbox.close();
    let stderr = child.stderr().clone();
    let after: Vec<Event> = events.rest().await;
    assert_eq!(
        after[0],
        Event::Message("given back".to_owned()),
        "{after:?}"
    );
    child.shutdown(TIMEOUT).await;
    let noise = stderr.tail(1_000);
    assert_eq!(noise.matches("a stray line").count(), 4 + 4, "{noise}");
    assert_eq!(noise.matches("stray from a child").count(), 4, "{noise}");
}

#[tokio::test]
async fn a_dropped_server_gives_its_streams_back_and_the_process_can_exit() {
    let (child, outbox, mut events) = connect("dropped");
    outbox.send(b"{\"id\":1}").await.unwrap();
    outbox.send(b"{\"id\":2}").await.unwrap();
    assert_eq!(next_object(&mut events).await, "{\"id\":1}");
    while next_object(&mut events).await != "{\"dropped\":true}" {}
    let exited = timeout(TIMEOUT, child.exited())
        .await
        .expect("the reader holds nothing up");
    assert!(exited.unwrap().success());
}

#[tokio::test]
async fn standard_input_is_served_once_at_a_time() {
    let (child, outbox, mut events) = connect("twice");
    assert_eq!(next_object(&mut events).await, "{\"refused\":true}");
    outbox.close();
    let ended = child.shutdown(TIMEOUT).await;
    assert_eq!(ended.by, EndedBy::Itself);
    assert!(ended.status.unwrap().success());
}
