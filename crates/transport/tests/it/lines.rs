//! Which input counts as a message.

use tokio::io::AsyncWriteExt;
use turnbuckle_transport::{Limits, Outbox, duplex, run};

use crate::recorder::{Event, Recorder, message};

/// Feeds `input` to a connection and returns the events of its receiver.
async fn events_of(input: &[u8], limits: Limits) -> Vec<Event> {
    let (near, mut far) = duplex();
    let outbox = Outbox::new(limits);
    let (recorder, events) = Recorder::new(&outbox);
    let connection = tokio::spawn(run(near.reader, near.writer, recorder, outbox, limits));
    far.writer.write_all(input).await.unwrap();
    far.writer.shutdown().await.unwrap();
    connection.await.unwrap().unwrap();
    events.rest().await
}

#[tokio::test]
async fn crlf_is_a_line_end_and_empty_lines_are_nothing() {
    let events = events_of(b"{\"a\":1}\r\n\n\r\n{\"b\":2}\n", Limits::default()).await;
    assert_eq!(
        events,
        [message("{\"a\":1}"), message("{\"b\":2}"), Event::Closed]
    );
}

#[tokio::test]
async fn bytes_that_are_not_utf_8_arrive_as_they_are() {
    struct Bytes(tokio::sync::oneshot::Sender<Vec<u8>>, Vec<u8>);
    impl turnbuckle_transport::Receive for Bytes {
        fn receive(&mut self, message: &[u8]) {
            self.1.extend_from_slice(message);
        }
        fn receive_fault(&mut self, fault: turnbuckle_transport::LineFault<'_>) {
            panic!("{fault}");
        }
        fn closed(&mut self) {
            let (sender, _) = tokio::sync::oneshot::channel();
            let sender = std::mem::replace(&mut self.0, sender);
            sender.send(std::mem::take(&mut self.1)).unwrap();
        }
    }
    let (near, mut far) = duplex();
    let (sender, bytes) = tokio::sync::oneshot::channel();
    let outbox = Outbox::new(Limits::default());
    let receiver = Bytes(sender, Vec::new());
    outbox.close();
    let connection = run(
        near.reader,
        near.writer,
        receiver,
        outbox,
        Limits::default(),
    );
    let connection = tokio::spawn(connection);
    far.writer.write_all(b"\xff\xfe\0\n").await.unwrap();
    far.writer.shutdown().await.unwrap();
    connection.await.unwrap().unwrap();
    assert_eq!(bytes.await.unwrap(), b"\xff\xfe\0");
}

#[tokio::test]
async fn an_oversized_line_is_skipped_and_the_connection_lives() {
    let limits = Limits::default().with_max_message_bytes(100_000);
    let mut input = b"{\"first\":1}\n".to_vec();
    input.resize(input.len() + 10_000_000, b'x');
    input.extend_from_slice(b"\n{\"last\":1}\n");
    let events = events_of(&input, limits).await;
    let [first, Event::TooLong(seen), last, Event::Closed] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(
        (first, last),
        (&message("{\"first\":1}"), &message("{\"last\":1}"))
    );
    assert!(
        (100_000..400_000).contains(seen),
        "told at once and not at the end: {seen}"
    );
}

#[tokio::test]
async fn the_end_of_input_inside_a_line_is_told_with_what_there_was() {
    let events = events_of(b"{}\n{\"torn\":", Limits::default()).await;
    let torn = Event::Unterminated("{\"torn\":".to_owned());
    assert_eq!(events, [message("{}"), torn, Event::Closed]);
}

#[tokio::test]
async fn a_message_larger_than_every_buffer_arrives_whole() {
    let long = "y".repeat(3_000_000);
    let events = events_of(format!("{long}\n{{}}\n").as_bytes(), Limits::default()).await;
    assert_eq!(events, [message(&long), message("{}"), Event::Closed]);
}
