//! Slow clients.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::sleep;
use turnbuckle_transport::http::Settings;

use super::http2;
use super::site::Site;

/// Short enough for a test, long enough for a busy machine to answer within.
const SHORT: Duration = Duration::from_millis(300);
/// How long an answer may take on a busy machine.
const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_silent_connection_is_cut_off() {
    let site = Site::open(Settings::default().with_header_timeout(SHORT)).await;
    let start = Instant::now();
    let mut client = site.connect().await;
    assert_eq!(client.rest().await, "");
    assert!(start.elapsed() >= SHORT && start.elapsed() < SOON);
}

#[tokio::test]
async fn a_head_sent_byte_by_byte_is_cut_off() {
    let site = Site::open(Settings::default().with_header_timeout(SHORT)).await;
    let start = Instant::now();
    let client = site.connect().await;
    let (mut read, mut write) = client.io.into_split();
    let drip = tokio::spawn(async move {
        write.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        while write.write_all(b"a: b\r\n").await.is_ok() {
            sleep(SHORT / 10).await;
        }
    });
    let mut rest = Vec::new();
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut read, &mut rest).await;
    assert!(rest.is_empty());
    assert!(start.elapsed() >= SHORT && start.elapsed() < SOON);
    drip.await.unwrap();
}

#[tokio::test]
async fn the_second_head_has_as_much_time_as_the_first() {
    let settings = Settings::default().with_header_timeout(SHORT);
    let site = Site::open(settings).await;
    let mut client = site.connect().await;
    assert_eq!(client.ask("/").await.0, 200);
    // Idle for longer than the time limit of a head.
    sleep(SHORT * 2).await;
    assert_eq!(client.ask("/").await.0, 200);
    let start = Instant::now();
    client.send("GET / HT").await;
    assert_eq!(client.rest().await, "");
    assert!(start.elapsed() >= SHORT && start.elapsed() < SOON);
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let site = Site::open(Settings::default().with_idle_timeout(SHORT)).await;
    let mut client = site.connect().await;
    assert_eq!(client.ask("/").await.0, 200);
    let start = Instant::now();
    assert_eq!(client.rest().await, "");
    assert!(start.elapsed() < SOON);
}

#[tokio::test]
async fn an_idle_http2_connection_is_closed() {
    let site = Site::open(Settings::default().with_idle_timeout(SHORT)).await;
    let mut client = http2::client(&site).await;
    assert_eq!(http2::ask(&mut client, "/", "").await.0, 200);
    let start = Instant::now();
    while !client.is_closed() {
        assert!(start.elapsed() < SOON);
        sleep(SHORT / 10).await;
    }
}

#[tokio::test]
async fn an_http2_connection_without_requests_is_closed() {
    let settings = Settings::default()
        .with_idle_timeout(SHORT)
        .with_header_timeout(SHORT);
    let site = Site::open(settings).await;
    let mut client = site.connect().await;
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    let start = Instant::now();
    client.rest().await;
    assert!(start.elapsed() < SOON);
}

#[tokio::test]
async fn a_stream_may_be_silent_for_as_long_as_it_likes() {
    let settings = Settings::default()
        .with_header_timeout(SHORT)
        .with_idle_timeout(SHORT)
        .with_write_timeout(SHORT);
    let mut site = Site::open(settings).await;
    let mut client = site.connect().await;
    client.get("/stream").await;
    let stream = site.stream().await;
    sleep(SHORT * 3).await;
    stream
        .send(Bytes::from_static(b"still here"))
        .await
        .unwrap();
    client.until("still here").await;
}

#[tokio::test]
async fn a_request_may_take_as_long_as_it_likes() {
    let settings = Settings::default()
        .with_header_timeout(SHORT)
        .with_idle_timeout(SHORT);
    let site = Site::open(settings).await;
    let mut client = site.connect().await;
    client.get("/slow").await;
    site.wait_for_begun(1).await;
    sleep(SHORT * 3).await;
    site.state.gate.notify_one();
    assert_eq!(client.answer().await, (200, "at last".to_owned()));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_cut_off() {
    let mut site = Site::open(Settings::default().with_write_timeout(SHORT)).await;
    let mut client = site.connect().await;
    client.get("/stream").await;
    is_given_up(&mut site).await;
    drop(client);
}

#[tokio::test]
async fn an_http2_client_that_does_not_read_is_cut_off() {
    let mut site = Site::open(Settings::default().with_write_timeout(SHORT)).await;
    let is_deaf = Arc::new(AtomicBool::new(false));
    let io = Deaf {
        io: TcpStream::connect(site.address.unwrap()).await.unwrap(),
        is_deaf: Arc::clone(&is_deaf),
    };
    let (mut client, connection) = http2::builder()
        // So much that only the socket's buffer can be full.
        .initial_connection_window_size(1 << 30)
        .initial_stream_window_size(1 << 30)
        .handshake(TokioIo::new(io))
        .await
        .unwrap();
    tokio::spawn(connection);
    let response = client
        .send_request(http2::post("/stream", ""))
        .await
        .unwrap();
    is_deaf.store(true, Ordering::Relaxed);
    is_given_up(&mut site).await;
    drop(response);
}

#[tokio::test]
async fn an_http2_client_that_does_not_read_its_answer_is_cut_off() {
    let mut site = Site::open(Settings::default().with_write_timeout(SHORT)).await;
    let mut client = http2::client(&site).await;
    let response = client
        .send_request(http2::post("/stream", ""))
        .await
        .unwrap();
    is_given_up(&mut site).await;
    drop(response);
}

/// A connection that can stop reading.
struct Deaf {
    io: TcpStream,
    is_deaf: Arc<AtomicBool>,
}

impl AsyncRead for Deaf {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_deaf.load(Ordering::Relaxed) {
            return Poll::Pending;
        }
        Pin::new(&mut self.io).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Deaf {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// Sends on the next stream until its body is dropped.
async fn is_given_up(site: &mut Site) {
    let stream = site.stream().await;
    let start = Instant::now();
    let block = Bytes::from(vec![0; 1 << 20]);
    let given_up = async { while stream.send(block.clone()).await.is_ok() {} };
    tokio::time::timeout(SOON, given_up)
        .await
        .expect("given up");
    assert!(start.elapsed() >= SHORT);
}
