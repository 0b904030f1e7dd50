//! Many messages are sent with few writes.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWrite, BufReader};
use tokio::time::timeout;
use turnbuckle_transport::{Limits, Outbox, duplex, run};

use crate::recorder::{Recorder, TIMEOUT, whole_batches};

/// Counts writes and bytes.
#[derive(Clone, Default)]
struct Counter {
    writes: Arc<AtomicUsize>,
    bytes: Arc<AtomicUsize>,
}

impl AsyncWrite for Counter {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len(), Ordering::Relaxed);
        Poll::Ready(Ok(bytes.len()))
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

async fn echo(input: &[u8], limits: Limits) -> Counter {
    let outbox = Outbox::new(limits);
    let (recorder, _events) = Recorder::echoing(&outbox);
    let counter = Counter::default();
    run(input, counter.clone(), recorder, outbox, limits)
        .await
        .unwrap();
    assert_eq!(counter.bytes.load(Ordering::Relaxed), input.len());
    counter
}

#[tokio::test]
async fn thousands_of_lines_in_one_chunk_are_answered_with_one_write() {
    let input = b"{\"id\":1}\n".repeat(5_000);
    assert!(input.len() < 64 * 1024, "one chunk");
    let counter = echo(&input, whole_batches()).await;
    assert_eq!(counter.writes.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_slow_batch_is_flushed_in_between() {
    let input = b"{\"id\":1}\n".repeat(50);
    let counter = echo(&input, Limits::default().with_flush_after(Duration::ZERO)).await;
    assert!(counter.writes.load(Ordering::Relaxed) > 25);
}

#[tokio::test]
async fn answers_over_the_high_water_mark_are_written_before_more_is_handed_over() {
    let input = b"{\"id\":1}\n".repeat(5_000);
    let counter = echo(&input, whole_batches().with_outbox_high_water_bytes(900)).await;
    assert_eq!(counter.writes.load(Ordering::Relaxed), 50);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_task_says_unasked_is_written_at_once() {
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
    let mut lines = BufReader::new(far.reader).lines();
    for number in 0..1_000 {
        outbox.send(format!("{number}").as_bytes()).await.unwrap();
        let line = timeout(TIMEOUT, lines.next_line())
            .await
            .expect("no wake-up is lost");
        assert_eq!(line.unwrap(), Some(format!("{number}")));
    }
    drop((lines, far.writer));
    connection.await.unwrap().unwrap();
}
