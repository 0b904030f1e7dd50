//! Bodies that arrive piece by piece, as event streams do.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use turnbuckle_transport::http::Settings;
use turnbuckle_transport::http::sse::{Decoder, Frame};

use super::http2;
use super::site::Site;

fn event(text: &str) -> Bytes {
    let mut event = Vec::new();
    Frame::of(text.as_bytes()).append_to(&mut event);
    event.into()
}

#[tokio::test]
async fn each_piece_goes_out_at_once() {
    let mut site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    client.get("/stream").await;
    let stream = site.stream().await;
    client.head().await;
    for number in 0..100 {
        // Nothing else is sent before this has arrived, so nothing else can flush it.
        let text = format!("event number {number}");
        stream.send(event(&text)).await.unwrap();
        client.until(&format!("data: {text}\n\n")).await;
    }
    drop(stream);
    client.until("0\r\n\r\n").await;
    assert_eq!(client.ask("/").await.0, 200);
}

#[tokio::test]
async fn each_piece_goes_out_at_once_on_http2_too() {
    let mut site = Site::open(Settings::default()).await;
    let mut client = http2::client(&site).await;
    let request = tokio::spawn(client.send_request(http2::post("/stream", "")));
    let stream = site.stream().await;
    let mut body = request.await.unwrap().unwrap().into_body();
    let mut decoder = Decoder::new();
    let mut events = Vec::new();
    for number in 0..100 {
        let text = format!("event number {number}");
        stream.send(event(&text)).await.unwrap();
        let frame = tokio::time::timeout(Duration::from_secs(5), body.frame()).await;
        let frame = frame.unwrap().unwrap().unwrap();
        decoder
            .feed(frame.data_ref().unwrap(), &mut events)
            .unwrap();
        assert_eq!(events.pop().unwrap().data, text);
    }
    drop(stream);
    let rest = body.collect().await.unwrap();
    assert!(rest.to_bytes().is_empty());
}

#[tokio::test]
async fn a_client_that_hangs_up_drops_its_stream() {
    let mut site = Site::open(Settings::default()).await;
    let mut client = site.connect().await;
    client.get("/stream").await;
    let stream = site.stream().await;
    client.head().await;
    drop(client);
    let closed = tokio::time::timeout(Duration::from_secs(5), stream.closed()).await;
    closed.expect("noticed without another event");
}

#[tokio::test]
async fn a_client_that_resets_its_stream_drops_it() {
    let mut site = Site::open(Settings::default()).await;
    let mut client = http2::client(&site).await;
    let response = client
        .send_request(http2::post("/stream", ""))
        .await
        .unwrap();
    let stream = site.stream().await;
    drop(response);
    let closed = tokio::time::timeout(Duration::from_secs(5), stream.closed()).await;
    closed.expect("noticed without another event");
}
