//! HTTP/2 with prior knowledge.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use turnbuckle_transport::http::Settings;

use super::site::Site;

pub(super) type Client = SendRequest<Full<Bytes>>;

pub(super) fn builder() -> http2::Builder<TokioExecutor> {
    http2::Builder::new(TokioExecutor::new())
}

/// Creates a client over any stream. Its connection lives as long as the client.
pub(super) async fn client_over(
    io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<Client, hyper::Error> {
    let (client, connection) = builder().handshake(TokioIo::new(io)).await?;
    tokio::spawn(connection);
    Ok(client)
}

pub(super) async fn client(site: &Site) -> Client {
    let io = TcpStream::connect(site.address.unwrap()).await.unwrap();
    client_over(io).await.unwrap()
}

pub(super) fn post(path: &str, body: &'static str) -> Request<Full<Bytes>> {
    Request::post(format!("http://test{path}"))
        .body(Full::from(body))
        .unwrap()
}

pub(super) async fn ask(client: &mut Client, path: &str, body: &'static str) -> (u16, String) {
    let response = client.send_request(post(path, body)).await.unwrap();
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn requests_run_side_by_side() {
    let site = Site::open(Settings::default()).await;
    let mut client = client(&site).await;
    let slow = client.send_request(post("/slow", ""));
    let slow = tokio::spawn(slow);
    site.wait_for_begun(1).await;
    assert_eq!(
        ask(&mut client, "/echo", "abc").await,
        (200, "abc".to_owned())
    );
    assert_eq!(ask(&mut client, "/", "").await, (200, "hello".to_owned()));
    site.state.gate.notify_one();
    assert_eq!(slow.await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn a_request_knows_its_peer() {
    let site = Site::open(Settings::default()).await;
    let (_, peer) = ask(&mut client(&site).await, "/peer", "").await;
    assert!(peer.contains("127.0.0.1"), "{peer}");
}

#[tokio::test]
async fn a_request_that_is_reset_is_dropped() {
    let site = Site::open(Settings::default()).await;
    let mut client = client(&site).await;
    let hanging = tokio::spawn(client.send_request(post("/hang", "")));
    site.wait_for_begun(1).await;
    hanging.abort();
    site.wait_for_dropped(1).await;
    assert_eq!(ask(&mut client, "/", "").await.0, 200);
}

#[tokio::test]
async fn a_connection_that_is_cut_off_takes_its_requests_with_it() {
    let site = Site::open(Settings::default()).await;
    let socket = std::net::TcpStream::connect(site.address.unwrap()).unwrap();
    socket.set_nonblocking(true).unwrap();
    let io = TcpStream::from_std(socket.try_clone().unwrap()).unwrap();
    let mut client = client_over(io).await.unwrap();
    let requests: Vec<_> = (0..3)
        .map(|_| tokio::spawn(client.send_request(post("/hang", ""))))
        .collect();
    site.wait_for_begun(3).await;
    socket.shutdown(std::net::Shutdown::Both).unwrap();
    site.wait_for_dropped(3).await;
    drop(requests);
}

#[tokio::test]
async fn a_panic_ends_its_own_request_only() {
    let site = Site::open(Settings::default()).await;
    let mut client = client(&site).await;
    assert!(client.send_request(post("/panic", "")).await.is_err());
    assert_eq!(ask(&mut client, "/", "").await.0, 200);
}
