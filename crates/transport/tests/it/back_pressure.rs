//! If a peer does not read, writers wait and memory does not grow.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::timeout;
use turnbuckle_transport::{Closed, Held, Limits, Outbox, OutboxBudget, TrySendError, duplex, run};

use crate::recorder::{Event, Recorder, TIMEOUT};

const HIGH_WATER: usize = 10_000;
/// The capacity of the connection between the two ends.
const PIPE: usize = 64 * 1024;

fn limits() -> Limits {
    Limits::default().with_outbox_high_water_bytes(HIGH_WATER)
}

/// A line of 1,000 bytes with its line end.
fn numbered(number: usize) -> String {
    format!("{number:0>999}")
}

#[tokio::test(start_paused = true)]
async fn senders_wait_for_a_peer_that_does_not_read_and_nothing_is_lost() {
    let (near, far) = duplex();
    let outbox = Outbox::new(limits());
    let (recorder, _events) = Recorder::new(&outbox);
    let connection = run(near.reader, near.writer, recorder, outbox.clone(), limits());
    let connection = tokio::spawn(connection);
    let mut sender = tokio::spawn({
        let outbox = outbox.clone();
        async move {
            for number in 0..1_000 {
                outbox.send(numbered(number).as_bytes()).await.unwrap();
            }
            outbox.close();
        }
    });
    // The paused clock only advances while every task waits.
    assert!(
        timeout(Duration::from_secs(1), &mut sender).await.is_err(),
        "the sender waits"
    );
    assert!(outbox.pending_bytes() >= HIGH_WATER);
    assert!(
        outbox.pending_bytes() <= HIGH_WATER + 1_000,
        "{}",
        outbox.pending_bytes()
    );

    let mut lines = BufReader::new(far.reader).lines();
    for number in 0..1_000 {
        assert_eq!(lines.next_line().await.unwrap(), Some(numbered(number)));
    }
    assert_eq!(lines.next_line().await.unwrap(), None);
    sender.await.unwrap();
    drop((lines, far.writer));
    connection.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_while_answers_are_over_the_mark() {
    let (near, mut far) = duplex();
    let outbox = Outbox::new(limits());
    let (recorder, mut events) = Recorder::answering(&outbox, |number, outbox| {
        let number = std::str::from_utf8(number).unwrap().parse().unwrap();
        outbox.push(numbered(number).as_bytes());
    });
    let connection = run(near.reader, near.writer, recorder, outbox.clone(), limits());
    let connection = tokio::spawn(connection);
    let mut asker = tokio::spawn(async move {
        for number in 0..50_000 {
            far.writer
                .write_all(format!("{number}\n").as_bytes())
                .await
                .unwrap();
        }
        far.writer.shutdown().await.unwrap();
        far.writer
    });
    assert!(
        timeout(Duration::from_secs(1), &mut asker).await.is_err(),
        "the asker waits"
    );
    assert!(
        outbox.pending_bytes() <= HIGH_WATER + 1_000,
        "{}",
        outbox.pending_bytes()
    );
    let answered = events.count_now();
    assert!(answered <= (PIPE + HIGH_WATER) / 1_000 + 1, "{answered}");

    let mut lines = BufReader::new(far.reader).lines();
    for number in 0..50_000 {
        assert_eq!(lines.next_line().await.unwrap(), Some(numbered(number)));
    }
    drop(asker.await.unwrap());
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn two_ends_that_both_have_much_to_say_do_not_wait_for_each_other() {
    let (client_end, server_end) = duplex();
    let outbox = Outbox::new(limits());
    let (server, _) = Recorder::echoing(&outbox);
    let server = run(
        server_end.reader,
        server_end.writer,
        server,
        outbox,
        limits(),
    );
    let server = tokio::spawn(server);

    let outbox = Outbox::new(limits());
    let (client, mut answers) = Recorder::new(&outbox);
    let client = run(
        client_end.reader,
        client_end.writer,
        client,
        outbox.clone(),
        limits(),
    );
    let client = tokio::spawn(client);
    // Each message is larger than the pipe and the outbox together, so that both ends have more unsent
    // bytes than the mark at the same time.
    let large = "w".repeat(3 * (PIPE + HIGH_WATER));
    let senders: Vec<_> = (0..10)
        .map(|_| {
            let (outbox, large) = (outbox.clone(), large.clone());
            tokio::spawn(async move { outbox.send(large.as_bytes()).await })
        })
        .collect();
    for sender in senders {
        timeout(TIMEOUT, sender)
            .await
            .expect("no dead-lock")
            .unwrap()
            .unwrap();
    }
    for _ in 0..10 {
        assert_eq!(answers.next().await, Event::Message(large.clone()));
    }
    outbox.close();
    client.await.unwrap().unwrap();
    server.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dropped_send_leaves_nothing_behind_and_the_next_in_row_goes_on() {
    let limits = limits().with_outbox_high_water_bytes(1);
    let outbox = Outbox::new(limits);
    outbox.send(b"first").await.unwrap();
    let mut second = Box::pin(outbox.send(b"second"));
    let waiting = Outbox::clone(&outbox);
    let third = tokio::spawn(async move { waiting.send(b"third").await });
    assert!(timeout(Duration::from_secs(1), &mut second).await.is_err());
    drop(second);

    let (near, mut far) = duplex();
    let (recorder, _events) = Recorder::new(&outbox);
    let connection = run(near.reader, near.writer, recorder, outbox.clone(), limits);
    let connection = tokio::spawn(connection);
    third.await.unwrap().unwrap();
    outbox.close();
    let mut output = String::new();
    far.reader.read_to_string(&mut output).await.unwrap();
    assert_eq!(output, "first\nthird\n");
    drop(far);
    connection.await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn closing_turns_waiting_senders_away() {
    let outbox = Outbox::new(limits().with_outbox_high_water_bytes(1));
    outbox.send(b"first").await.unwrap();
    let senders: Vec<_> = (0..3)
        .map(|_| {
            let outbox = outbox.clone();
            tokio::spawn(async move { outbox.send(b"more").await })
        })
        .collect();
    assert!(
        timeout(Duration::from_secs(1), outbox.ready())
            .await
            .is_err()
    );
    outbox.close();
    for sender in senders {
        assert_eq!(sender.await.unwrap(), Err(Closed));
    }
    assert_eq!(outbox.ready().await, Err(Closed));
    assert_eq!(outbox.pending_bytes(), "first\n".len());
}

/// A budget of 40 KB in total, of which outboxes take 32 KiB at a time.
struct Purse(AtomicUsize);

struct Paid(Arc<Purse>, usize);

impl OutboxBudget for Purse {
    fn pay(self: Arc<Self>, _payer: u64, bytes: usize) -> Option<Held> {
        let take = |left: usize| left.checked_sub(bytes);
        let order = Ordering::SeqCst;
        self.0.fetch_update(order, order, take).ok()?;
        Some(Held::new(Paid(self, bytes)))
    }
}

impl Drop for Paid {
    fn drop(&mut self) {
        self.0.0.fetch_add(self.1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn outboxes_of_one_budget_hold_a_little_when_it_is_used_up() {
    let purse = Arc::new(Purse(AtomicUsize::new(40_000)));
    let outbox = || Outbox::with_budget(Limits::default(), purse.clone(), 1);
    let fill = |outbox: &Outbox| {
        let line = numbered(1);
        let send = || outbox.try_send_with(|out| out.extend_from_slice(line.as_bytes()));
        let count = (0..1_000).take_while(|_| send().is_ok()).count();
        assert_eq!(send(), Err(TrySendError::Full));
        count
    };
    let (rich, poor) = (outbox(), outbox());
    // 8 KiB are free, and 32 KiB come from the budget.
    assert_eq!(fill(&rich), 40);
    assert_eq!(fill(&poor), 8);
    assert_eq!(purse.0.load(Ordering::SeqCst), 40_000 - 32 * 1024);
    // A message without enough budget is not queued in part.
    assert_eq!(poor.pending_bytes(), 8_000);
    // A waiting sender is admitted while free bytes are left; the next one waits.
    assert_eq!(poor.send(&[b'z'; 2_000]).await, Ok(()));
    assert_eq!(fill(&poor), 0);
    // Lines that were taken use the budget until they are sent.
    let (mut lines, mut held) = (Vec::new(), Held::default());
    let mut context = Context::from_waker(Waker::noop());
    let taken = rich.poll_lines_holding(&mut context, &mut lines, &mut held);
    assert_eq!(taken, Poll::Ready(Some(())));
    assert_eq!(lines.len(), 40_000);
    assert_eq!(fill(&rich), 8);
    assert_eq!(purse.0.load(Ordering::SeqCst), 40_000 - 32 * 1024);
    drop(held);
    assert_eq!(purse.0.load(Ordering::SeqCst), 40_000);
    assert_eq!(fill(&rich), 32);
}
