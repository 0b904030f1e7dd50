//! Regular use of HTTP/1.1.

use std::io::Write as _;

use turnbuckle_transport::http::Settings;

use super::site::Site;

#[tokio::test]
async fn requests_follow_each_other_on_one_connection() {
    let site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    for _ in 0..3 {
        assert_eq!(client.ask("/").await, (200, "hello".to_owned()));
    }
    client
        .send("POST /echo HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc")
        .await;
    assert_eq!(client.answer().await, (200, "abc".to_owned()));
}

#[tokio::test]
async fn a_body_may_come_in_chunks_and_a_head_in_bytes() {
    let site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    let request = "POST /echo HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n\
                   3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n";
    for byte in request.chars() {
        client.send(&byte.to_string()).await;
    }
    assert_eq!(client.answer().await, (200, "abcdefg".to_owned()));
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    let one = "GET / HTTP/1.1\r\n\r\n";
    let two = "POST /echo HTTP/1.1\r\ncontent-length: 1\r\n\r\n2";
    client.send(&[one, two, one].concat()).await;
    for expected in ["hello", "2", "hello"] {
        assert_eq!(client.answer().await, (200, expected.to_owned()));
    }
}

#[tokio::test]
async fn a_large_body_goes_both_ways() {
    let site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    let body = "x".repeat(1_000_000);
    let mut request = Vec::new();
    write!(
        request,
        "POST /echo HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    client.send(std::str::from_utf8(&request).unwrap()).await;
    assert_eq!(client.answer().await, (200, body));
}

#[tokio::test]
async fn a_request_knows_its_peer() {
    let site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    let address = client.io.local_addr().unwrap();
    let (_, peer) = client.ask("/peer").await;
    assert!(peer.contains(&address.to_string()), "{peer}");
    assert!(peer.contains("is_encrypted: false"), "{peer}");
}

#[tokio::test]
async fn a_client_that_hangs_up_drops_its_request() {
    let site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    client.get("/hang").await;
    site.wait_for_begun(1).await;
    drop(client);
    site.wait_for_dropped(1).await;
}

#[tokio::test]
async fn a_panic_ends_its_own_connection_only() {
    let site = Site::open(Settings::default()).await;
    let (mut one, mut two) = (site.connect().await, site.connect().await);
    assert_eq!(two.ask("/").await.0, 200);
    one.get("/panic").await;
    assert_eq!(one.rest().await, "");
    assert_eq!(two.ask("/").await.0, 200);
    assert_eq!(site.connect().await.ask("/").await.0, 200);
}

#[tokio::test]
async fn bytes_that_are_not_http_are_refused() {
    let site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    client.send("\u{16}\u{3}\u{1}\0\r\n\r\n").await;
    assert!(client.rest().await.starts_with("HTTP/1.1 400"));
}
