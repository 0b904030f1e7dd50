//! Clients that exceed the limits.

use http::HeaderValue;
use tokio::net::TcpStream;
use turnbuckle_transport::http::Settings;

use super::http2;
use super::raw::status;
use super::site::Site;

#[tokio::test]
async fn a_head_beyond_its_limit_is_refused() {
    let settings = Settings::default().with_max_header_bytes(16 * 1024);
    let site = Site::open(settings).await;
    for (length, expected) in [(15 * 1024, 200), (17 * 1024, 431), (40 * 1024, 431)] {
        let mut client = site.connect().await;
        let request = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(length));
        client.send(&request).await;
        assert_eq!(status(&client.head().await), expected, "{length}");
    }
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    client.send("GET / HTTP/1.1\r\nx: ").await;
    client.send(&"x".repeat(80 * 1024)).await;
    assert_eq!(status(&client.head().await), 431);
}

#[tokio::test]
async fn a_flood_of_headers_is_refused() {
    let site = Site::open(Settings::default()).await;
    for (count, expected) in [(100, 200), (101, 431), (5000, 431)] {
        let mut client = site.connect().await;
        let headers = "a: b\r\n".repeat(count);
        client
            .send(&format!("GET / HTTP/1.1\r\n{headers}\r\n"))
            .await;
        assert_eq!(status(&client.head().await), expected, "{count}");
    }
}

#[tokio::test]
async fn a_head_beyond_its_limit_is_refused_on_http2_too() {
    let settings = Settings::default().with_max_header_bytes(16 * 1024);
    let site = Site::open(settings).await;
    let mut client = http2::client(&site).await;
    let mut request = http2::post("/", "");
    let value = HeaderValue::from_str(&"x".repeat(20 * 1024)).unwrap();
    request.headers_mut().insert("x", value);
    let outcome = client.send_request(request).await;
    // The client knows the limit and may refuse to send.
    assert!(outcome.map_or(true, |response| response.status() == 431));
    assert_eq!(http2::ask(&mut client, "/", "").await.0, 200);
}

#[tokio::test]
async fn a_connection_too_many_is_told_so() {
    let site = Site::open(Settings::default().with_max_connections(2)).await;
    let (mut one, mut two) = (site.connect().await, site.connect().await);
    assert_eq!(one.ask("/").await.0, 200);
    assert_eq!(two.ask("/").await.0, 200);

    let mut three = site.connect().await;
    let (status, reason) = three.ask("/").await;
    assert_eq!(status, 503);
    assert!(reason.contains("connection limit"), "{reason}");
    assert_eq!(three.rest().await, "", "closed");
    assert_eq!(one.ask("/").await.0, 200, "the others are not disturbed");

    drop(two);
    // The server may notice the closed connection later.
    while site.connect().await.ask("/").await.0 == 503 {}
}

#[tokio::test]
async fn a_connection_too_many_is_told_so_on_http2_too() {
    let site = Site::open(Settings::default().with_max_connections(1)).await;
    let mut one = http2::client(&site).await;
    assert_eq!(http2::ask(&mut one, "/", "").await.0, 200);

    let io = TcpStream::connect(site.address.unwrap()).await.unwrap();
    let mut two = http2::client_over(io).await.unwrap();
    let error = two.send_request(http2::post("/", "")).await.unwrap_err();
    assert!(
        format!("{error:?}").contains("ENHANCE_YOUR_CALM"),
        "{error:?}"
    );
}

#[tokio::test]
async fn refused_connections_do_not_lock_out_later_clients() {
    let site = Site::open(Settings::default().with_max_connections(1)).await;
    let mut one = site.connect().await;
    assert_eq!(one.ask("/").await.0, 200);
    // More than are refused concurrently, and all of them stay silent.
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(site.connect().await);
    }
    assert_eq!(one.ask("/").await.0, 200);
    drop((one, silent));
    while site.connect().await.ask("/").await.0 == 503 {}
}
