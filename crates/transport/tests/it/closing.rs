//! How a connection ends, from either side.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep};
use turnbuckle_transport::{Limits, Outbox, TransportError, duplex, run};

use crate::recorder::{Event, Recorder, message};

#[tokio::test(start_paused = true)]
async fn late_answers_are_written_after_the_end_of_input() {
    let (near, mut far) = duplex();
    let outbox = Outbox::new(Limits::default());
    // Unlike the recorder, this receiver leaves the outbox open in `closed`; the task closes it.
    let receiver = Patient(outbox.clone());
    let connection = run(
        near.reader,
        near.writer,
        receiver,
        outbox,
        Limits::default(),
    );
    let connection = tokio::spawn(connection);
    far.writer.write_all(b"{}\n").await.unwrap();
    far.writer.shutdown().await.unwrap();
    let mut output = String::new();
    far.reader.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "{\"late\":true}\n");
    connection.await.unwrap().unwrap();
}

/// Answers each message after three seconds, and then closes the outbox.
struct Patient(Outbox);

impl turnbuckle_transport::Receive for Patient {
    fn receive(&mut self, _: &[u8]) {
        let outbox = self.0.clone();
        tokio::spawn(async move {
            sleep(Duration::from_secs(3)).await;
            outbox.push(b"{\"late\":true}");
            outbox.close();
        });
    }
    fn receive_fault(&mut self, fault: turnbuckle_transport::LineFault<'_>) {
        panic!("{fault}");
    }
    fn closed(&mut self) {}
}

#[tokio::test(start_paused = true)]
async fn work_that_outlasts_the_linger_is_not_waited_for() {
    let (near, mut far) = duplex();
    let limits = Limits::default().with_linger(Duration::from_secs(2));
    let outbox = Outbox::new(limits);
    let began = Instant::now();
    far.writer.write_all(b"{}\n").await.unwrap();
    far.writer.shutdown().await.unwrap();
    run(
        near.reader,
        near.writer,
        Patient(outbox.clone()),
        outbox.clone(),
        limits,
    )
    .await
    .unwrap();
    assert_eq!(began.elapsed().as_secs(), 2);
    assert!(outbox.is_closed());
    outbox.closed().await;
    outbox.push(b"{}"); // Dropped: neither an error nor kept.
    assert_eq!(outbox.pending_bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn closing_the_outbox_flushes_and_still_hears_the_peer_out() {
    let (near, mut far) = duplex();
    let outbox = Outbox::new(Limits::default());
    let (recorder, events) = Recorder::new(&outbox);
    let connection = run(
        near.reader,
        near.writer,
        recorder,
        outbox.clone(),
        Limits::default(),
    );
    let connection = tokio::spawn(connection);
    outbox.push(b"{\"bye\":1}");
    outbox.close();
    let mut output = String::new();
    far.reader.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "{\"bye\":1}\n");
    far.writer.write_all(b"{\"so long\":1}\n").await.unwrap();
    drop(far);
    connection.await.unwrap().unwrap();
    assert_eq!(
        events.rest().await,
        [message("{\"so long\":1}"), Event::Closed]
    );
}

#[tokio::test(start_paused = true)]
async fn a_peer_that_never_reads_the_rest_is_given_up_after_the_linger() {
    let (near, far) = duplex();
    let outbox = Outbox::new(Limits::default());
    let (recorder, _events) = Recorder::new(&outbox);
    let connection = run(
        near.reader,
        near.writer,
        recorder,
        outbox.clone(),
        Limits::default(),
    );
    let connection = tokio::spawn(connection);
    outbox.push(&vec![b'x'; 100_000]);
    tokio::task::yield_now().await; // The pipe is full before the outbox is closed.
    outbox.close();
    let ended = connection.await.unwrap();
    let Err(TransportError::Undelivered { bytes, .. }) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(bytes, 100_001 - 64 * 1024);
    drop(far);
}

#[tokio::test]
async fn a_peer_that_vanishes_is_not_an_error() {
    let (near, far) = duplex();
    let outbox = Outbox::new(Limits::default());
    let (recorder, events) = Recorder::new(&outbox);
    outbox.push(b"{}");
    drop(far);
    run(
        near.reader,
        near.writer,
        recorder,
        outbox,
        Limits::default(),
    )
    .await
    .unwrap();
    assert_eq!(events.rest().await, [Event::Closed]);
}

#[tokio::test]
async fn dropping_the_connection_closes_its_outbox_and_its_streams() {
    let (near, mut far) = duplex();
    let outbox = Outbox::new(Limits::default());
    let (recorder, _events) = Recorder::new(&outbox);
    let connection = run(
        near.reader,
        near.writer,
        recorder,
        outbox.clone(),
        Limits::default(),
    );
    let connection = tokio::spawn(connection);
    tokio::task::yield_now().await;
    connection.abort();
    outbox.closed().await;
    assert_eq!(far.reader.read(&mut [0]).await.unwrap(), 0);
}

#[tokio::test]
async fn an_outbox_serves_one_connection() {
    let (near, far) = duplex();
    let outbox = Outbox::new(Limits::default());
    let (recorder, _events) = Recorder::new(&outbox);
    let (other, _events) = Recorder::new(&outbox);
    let connection = run(
        near.reader,
        near.writer,
        recorder,
        outbox.clone(),
        Limits::default(),
    );
    let connection = tokio::spawn(connection);
    tokio::task::yield_now().await;
    let second = run(
        far.reader,
        far.writer,
        other,
        outbox.clone(),
        Limits::default(),
    )
    .await;
    assert!(matches!(second, Err(TransportError::OutboxInUse)));
    connection.await.unwrap().unwrap();
}
