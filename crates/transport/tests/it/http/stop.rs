//! Stopping a server.

use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use turnbuckle_transport::http::{ServeError, Settings};

use super::http2;
use super::site::Site;

#[tokio::test]
async fn a_running_request_is_finished() {
    let site = Site::open(Settings::default()).await;
    let state = site.state.clone();
    let address = site.address.unwrap();
    let (mut idle, mut busy) = (site.connect().await, site.connect().await);
    assert_eq!(idle.ask("/").await.0, 200);
    busy.get("/slow").await;
    site.wait_for_begun(1).await;

    let served = site.stop();
    assert_eq!(idle.rest().await, "", "idle connections are closed at once");
    // The listener was closed before that.
    assert!(TcpStream::connect(address).await.is_err());
    assert!(!served.is_finished());
    state.gate.notify_one();
    assert_eq!(busy.answer().await, (200, "at last".to_owned()));
    assert_eq!(busy.rest().await, "", "and closed");
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_running_request_is_finished_on_http2_too() {
    let site = Site::open(Settings::default()).await;
    let state = site.state.clone();
    let mut client = http2::client(&site).await;
    let slow = tokio::spawn(client.send_request(http2::post("/slow", "")));
    site.wait_for_begun(1).await;
    let served = site.stop();
    state.gate.notify_one();
    assert_eq!(slow.await.unwrap().unwrap().status(), 200);
    served.await.unwrap().unwrap();
    assert!(client.send_request(http2::post("/", "")).await.is_err());
}

#[tokio::test]
async fn what_does_not_finish_is_cut_off() {
    let grace = Duration::from_millis(300);
    let site = Site::open(Settings::default().with_grace(grace)).await;
    let state = site.state.clone();
    let mut hanging = site.connect().await;
    hanging.get("/hang").await;
    let mut other = http2::client(&site).await;
    let request = tokio::spawn(other.send_request(http2::post("/hang", "")));
    site.wait_for_begun(2).await;

    let start = Instant::now();
    let outcome = site.stop().await.unwrap();
    let took = start.elapsed();
    assert!(
        took >= grace && took < grace + Duration::from_secs(5),
        "{took:?}"
    );
    let ServeError::Unfinished { connections, .. } = outcome.unwrap_err() else {
        panic!("another error");
    };
    assert_eq!(connections, 2);
    assert_eq!(hanging.rest().await, "");
    assert!(request.await.unwrap().is_err());
    // They have ended, and are not merely disconnected from their clients.
    let dropped = tokio::time::timeout(Duration::from_secs(5), state.dropped.acquire_many(2));
    dropped.await.unwrap().unwrap().forget();
}

#[tokio::test]
async fn a_silent_connection_does_not_delay_the_shutdown() {
    let site = Site::open(Settings::default()).await;
    let mut silent = site.connect().await;
    let mut half = site.connect().await;
    half.send("PRI").await;
    // Both connections were accepted before this one.
    assert_eq!(site.connect().await.ask("/").await.0, 200);
    let start = Instant::now();
    site.stop().await.unwrap().unwrap();
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(silent.rest().await, "");
    assert_eq!(half.rest().await, "");
}

#[tokio::test]
async fn a_dropped_server_drops_its_connections() {
    let site = Site::open(Settings::default()).await;
    let state = site.state.clone();
    let address = site.address.unwrap();
    let mut one = site.connect().await;
    one.get("/hang").await;
    let mut two = http2::client(&site).await;
    let request = tokio::spawn(two.send_request(http2::post("/hang", "")));
    site.wait_for_begun(2).await;
    site.abort().await;
    assert_eq!(one.rest().await, "");
    assert!(request.await.unwrap().is_err());
    let dropped = tokio::time::timeout(Duration::from_secs(5), state.dropped.acquire_many(2));
    dropped.await.unwrap().unwrap().forget();
    assert!(TcpStream::connect(address).await.is_err());
}
