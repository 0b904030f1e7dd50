//! The server side of stdio, over pipes and sockets of the test.

use std::fs::File;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use turnbuckle_transport::{Limits, Outbox, TransportError, serve_files};

use crate::recorder::{Event, Events, Recorder, TIMEOUT, message, whole_batches};

type Served = JoinHandle<Result<(), TransportError>>;

fn file(end: impl Into<OwnedFd>) -> File {
    File::from(end.into())
}

/// Starts a server that runs `recorder`, and returns the client's ends of its pipes.
fn serve(outbox: &Outbox, recorder: Recorder, limits: Limits) -> (PipeWriter, PipeReader, Served) {
    let (input, to_server) = pipe().unwrap();
    let (from_server, output) = pipe().unwrap();
    let served = serve_files(file(input), file(output), recorder, outbox.clone(), limits);
    (to_server, from_server, tokio::spawn(served))
}

fn echo_server(limits: Limits) -> (PipeWriter, PipeReader, Served, Outbox, Events) {
    let outbox = Outbox::new(limits);
    let (recorder, events) = Recorder::echoing(&outbox);
    let (to_server, from_server, served) = serve(&outbox, recorder, limits);
    (to_server, from_server, served, outbox, events)
}

/// Reads a line without blocking the test's runtime.
async fn line(mut reader: BufReader<PipeReader>) -> (String, BufReader<PipeReader>) {
    let read = tokio::task::spawn_blocking(move || {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        (line, reader)
    });
    timeout(TIMEOUT, read)
        .await
        .expect("a line comes in time")
        .unwrap()
}

async fn to_end(mut reader: impl Read + Send + 'static) -> Vec<u8> {
    let read = tokio::task::spawn_blocking(move || {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        bytes
    });
    timeout(TIMEOUT, read)
        .await
        .expect("the end comes in time")
        .unwrap()
}

#[tokio::test]
async fn messages_are_answered_and_the_end_of_input_ends_it() {
    let (mut client, answers, served, outbox, events) = echo_server(Limits::default());
    client.write_all(b"{\"id\":1}\r\n\n{\"id\":2}\n").unwrap();
    drop(client);
    assert_eq!(to_end(answers).await, b"{\"id\":1}\n{\"id\":2}\n");
    served.await.unwrap().unwrap();
    assert!(outbox.is_closed());
    let expected = [message("{\"id\":1}"), message("{\"id\":2}"), Event::Closed];
    assert_eq!(events.rest().await, expected);
}

#[tokio::test]
async fn thousands_of_lines_in_one_read_are_answered_with_one_write() {
    let limits = whole_batches();
    let outbox = Outbox::new(limits);
    let (recorder, _events) = Recorder::echoing(&outbox);
    // On a datagram socket every write is one packet.
    let (output, packets) = UnixDatagram::pair().unwrap();
    let (input, mut client) = pipe().unwrap();
    let lines = b"{\"id\":1}\n".repeat(5_000);
    client.write_all(&lines).unwrap();
    let served = serve_files(file(input), file(output), recorder, outbox.clone(), limits);
    let served = tokio::spawn(served);
    let first = tokio::task::spawn_blocking(move || {
        let mut packet = vec![0; 100_000];
        packets.set_read_timeout(Some(TIMEOUT)).unwrap();
        let count = packets.recv(&mut packet).unwrap();
        packet.truncate(count);
        packet
    });
    assert_eq!(first.await.unwrap(), lines);
    drop(client);
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_a_task_says_unasked_is_written_at_once() {
    let (client, answers, served, outbox, _events) = echo_server(Limits::default());
    let mut answers = BufReader::new(answers);
    for number in 0..100 {
        outbox.send(format!("{number}").as_bytes()).await.unwrap();
        let (said, rest) = line(answers).await;
        assert_eq!(said, format!("{number}\n"));
        answers = rest;
    }
    drop(client);
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_receiver_that_takes_its_time_does_not_hold_up_what_others_say() {
    let outbox = Outbox::new(Limits::default());
    let (go_on, wait): (Sender<()>, Receiver<()>) = channel();
    let (recorder, mut events) = Recorder::answering(&outbox, move |_, outbox| {
        let _ = wait.recv();
        outbox.push(b"slow");
    });
    let (mut client, answers, served) = serve(&outbox, recorder, Limits::default());
    client.write_all(b"{}\n").unwrap();
    assert_eq!(events.next().await, message("{}"));
    outbox.send(b"other").await.unwrap();
    let (said, answers) = line(BufReader::new(answers)).await;
    assert_eq!(said, "other\n");
    drop(go_on);
    let (said, _answers) = line(answers).await;
    assert_eq!(said, "slow\n");
    drop(client);
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_does_not_read_yet_is_still_heard() {
    let (mut client, answers, served, outbox, mut events) = echo_server(Limits::default());
    let request = [&[b'x'; 9_999][..], b"\n"].concat();
    let requests = tokio::task::spawn_blocking(move || {
        for _ in 0..50 {
            client.write_all(&request).unwrap();
        }
        client
    });
    let mut client = timeout(TIMEOUT, requests)
        .await
        .expect("the requests are read")
        .unwrap();
    for _ in 0..50 {
        assert!(matches!(events.next().await, Event::Message(_)));
    }
    assert!(
        outbox.pending_bytes() > 300_000,
        "the answers wait: {}",
        outbox.pending_bytes()
    );
    client
        .write_all(b"{\"method\":\"notifications/cancelled\"}\n")
        .unwrap();
    assert!(matches!(events.next().await, Event::Message(text) if text.contains("cancelled")));
    drop(client);
    assert_eq!(to_end(answers).await.len(), 50 * 10_000 + 37);
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn answers_over_the_mark_stop_the_reading_and_none_is_lost() {
    let limits = Limits::default().with_outbox_high_water_bytes(20_000);
    let outbox = Outbox::new(limits);
    let (recorder, mut events) = Recorder::answering(&outbox, |number, outbox| {
        let number: usize = std::str::from_utf8(number).unwrap().parse().unwrap();
        outbox.push(format!("{number:0>9999}").as_bytes());
    });
    let (mut client, answers, served) = serve(&outbox, recorder, limits);
    let asked = std::thread::spawn(move || {
        for number in 0..2_000 {
            client.write_all(format!("{number}\n").as_bytes()).unwrap();
        }
    });
    asked.join().unwrap(); // Less than a pipe holds.
    // 64 KiB in the pipe and two answers in the outbox, when the reader has paused.
    let mut answered = 0;
    while outbox.pending_bytes() < 20_000 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    answered += events.count_now();
    assert!((2..=10).contains(&answered), "{answered}");
    assert!(
        outbox.pending_bytes() <= 30_000,
        "{}",
        outbox.pending_bytes()
    );

    let answers = String::from_utf8(to_end(answers).await).unwrap();
    let numbers: Vec<usize> = answers.lines().map(|line| line.parse().unwrap()).collect();
    assert_eq!(numbers, (0..2_000).collect::<Vec<_>>());
    served.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_sender_is_heard_in_its_own_order_however_many_write() {
    let (client, answers, served, outbox, _events) = echo_server(Limits::default());
    let asker = std::thread::spawn(move || {
        let mut client = client;
        for number in 0..2_000 {
            client
                .write_all(format!("9 {number}\n").as_bytes())
                .unwrap();
        }
        client
    });
    let senders: Vec<_> = (0..4)
        .map(|sender| {
            let outbox = outbox.clone();
            tokio::spawn(async move {
                for number in 0..2_000 {
                    outbox
                        .send(format!("{sender} {number}").as_bytes())
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    let answers = tokio::spawn(to_end(answers));
    for sender in senders {
        sender.await.unwrap();
    }
    drop(asker.join().unwrap());
    let answers = String::from_utf8(answers.await.unwrap()).unwrap();
    let mut next = [0; 10];
    for line in answers.lines() {
        let (sender, number) = line.split_once(' ').unwrap();
        let next = &mut next[sender.parse::<usize>().unwrap()];
        assert_eq!(number.parse::<i32>().unwrap(), *next);
        *next += 1;
    }
    assert_eq!(next, [2_000, 2_000, 2_000, 2_000, 0, 0, 0, 0, 0, 2_000]);
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_non_blocking_socket_is_waited_for() {
    let limits = Limits::default();
    let outbox = Outbox::new(limits);
    let (recorder, _events) = Recorder::echoing(&outbox);
    let (client, socket) = UnixStream::pair().unwrap();
    socket.set_nonblocking(true).unwrap();
    let output = file(socket.try_clone().unwrap());
    let served = serve_files(file(socket), output, recorder, outbox.clone(), limits);
    let served = tokio::spawn(served);
    let mut to_server = client.try_clone().unwrap();
    let text = "z".repeat(2_000_000);
    let line = format!("{text}\n{text}\n");
    let expected = line.clone();
    std::thread::spawn(move || {
        to_server.write_all(line.as_bytes()).unwrap();
        to_server.shutdown(std::net::Shutdown::Write).unwrap();
    });
    assert_eq!(to_end(client).await, expected.as_bytes());
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn closing_the_outbox_ends_it_while_the_input_is_open() {
    let (client, answers, served, outbox, _events) = echo_server(Limits::default());
    outbox.push(b"{\"bye\":1}");
    outbox.close();
    timeout(TIMEOUT, served)
        .await
        .expect("at once")
        .unwrap()
        .unwrap();
    assert_eq!(to_end(answers).await, b"{\"bye\":1}\n");
    drop(client);
}

#[tokio::test]
async fn a_client_that_never_reads_the_rest_is_given_up() {
    let limits = Limits::default().with_linger(Duration::from_millis(100));
    let (client, answers, served, outbox, _events) = echo_server(limits);
    outbox.push(&vec![b'x'; 300_000]);
    outbox.close();
    let ended = timeout(TIMEOUT, served)
        .await
        .expect("after the linger")
        .unwrap();
    let Err(TransportError::Undelivered { bytes, .. }) = ended else {
        panic!("{ended:?}")
    };
    assert!(bytes > 0);
    drop((client, answers));
}

#[tokio::test]
async fn a_client_that_vanishes_is_not_an_error() {
    let (mut client, answers, served, _outbox, events) = echo_server(Limits::default());
    drop(answers);
    client.write_all(b"{}\n").unwrap();
    timeout(TIMEOUT, served)
        .await
        .expect("at once")
        .unwrap()
        .unwrap();
    drop(client);
    assert_eq!(events.rest().await[0], message("{}"));
}

#[tokio::test]
async fn dropping_it_closes_the_output_and_the_outbox() {
    let (client, answers, served, outbox, _events) = echo_server(Limits::default());
    tokio::task::yield_now().await;
    served.abort();
    timeout(TIMEOUT, outbox.closed()).await.expect("at once");
    assert!(to_end(answers).await.is_empty());
    drop(client);
}

#[tokio::test]
async fn a_panic_of_the_receiver_goes_on_in_the_caller() {
    let outbox = Outbox::new(Limits::default());
    let (recorder, _events) = Recorder::answering(&outbox, |_, _| panic!("the receiver's own"));
    let (mut client, answers, served) = serve(&outbox, recorder, Limits::default());
    client.write_all(b"{}\n").unwrap();
    let panic = served.await.unwrap_err().into_panic();
    assert_eq!(panic.downcast_ref(), Some(&"the receiver's own"));
    assert!(to_end(answers).await.is_empty());
}

#[tokio::test]
async fn the_receiver_may_spawn() {
    let outbox = Outbox::new(Limits::default());
    let (recorder, _events) = Recorder::answering(&outbox, |message, outbox| {
        let (outbox, message) = (outbox.clone(), message.to_vec());
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(1)).await;
            outbox.send(&message).await
        });
    });
    let (mut client, answers, served) = serve(&outbox, recorder, Limits::default());
    client.write_all(b"{\"id\":1}\n").unwrap();
    let (answer, answers) = line(BufReader::new(answers)).await;
    assert_eq!(answer, "{\"id\":1}\n");
    drop((client, answers));
    served.await.unwrap().unwrap();
}
