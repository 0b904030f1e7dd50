//! Unix sockets and their files.

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use tokio::net::UnixStream;
use turnbuckle_transport::http::{BindError, Listener, Settings};

use super::raw::Raw;
use super::site::Site;

/// A path in a folder for this test, removed at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = format!("turnbuckle-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder.join("socket"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.parent().unwrap());
    }
}

#[tokio::test]
async fn requests_are_answered_over_a_unix_socket() {
    let place = Place::new("answers");
    let listener = Listener::bind_unix(&place.0).await.unwrap();
    assert_eq!(listener.local_address(), None);
    let site = Site::at(listener, Settings::default());
    let mut client = Raw::over(UnixStream::connect(&place.0).await.unwrap());
    assert_eq!(client.ask("/").await, (200, "hello".to_owned()));
    let user = std::fs::metadata(&place.0).unwrap().uid();
    let (_, peer) = client.ask("/peer").await;
    assert!(peer.contains(&format!("Unix(Some({user}))")), "{peer}");
    drop(client);
    site.stop().await.unwrap().unwrap();
    assert!(!place.0.exists(), "the file goes with the server");
}

#[tokio::test]
async fn the_file_of_a_dead_server_is_replaced() {
    let place = Place::new("stale");
    drop(std::os::unix::net::UnixListener::bind(&place.0).unwrap());
    assert!(place.0.exists());
    let site = Site::at(
        Listener::bind_unix(&place.0).await.unwrap(),
        Settings::default(),
    );
    let mut client = Raw::over(UnixStream::connect(&place.0).await.unwrap());
    assert_eq!(client.ask("/").await.0, 200);
    site.abort().await;
    assert!(!place.0.exists());
}

#[tokio::test]
async fn a_server_that_answers_is_left_alone() {
    let place = Place::new("live");
    let _live = Listener::bind_unix(&place.0).await.unwrap();
    let error = Listener::bind_unix(&place.0).await.unwrap_err();
    assert!(matches!(error, BindError::InUse { .. }), "{error}");
    assert!(error.to_string().contains("stop it or choose another path"));
    UnixStream::connect(&place.0).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_not_a_socket_is_left_alone() {
    let place = Place::new("file");
    std::fs::write(&place.0, "precious").unwrap();
    let error = Listener::bind_unix(&place.0).await.unwrap_err();
    assert!(matches!(error, BindError::NotASocket { .. }), "{error}");
    assert_eq!(std::fs::read(&place.0).unwrap(), b"precious");
}

#[tokio::test]
async fn the_file_of_a_successor_is_left_alone() {
    let place = Place::new("successor");
    let old = Listener::bind_unix(&place.0).await.unwrap();
    std::fs::remove_file(&place.0).unwrap();
    let _new = Listener::bind_unix(&place.0).await.unwrap();
    drop(old);
    UnixStream::connect(&place.0).await.unwrap();
}

#[tokio::test]
async fn a_path_that_cannot_be_is_named() {
    let error = Listener::bind_unix("/nonexistent/folder/socket")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("/nonexistent/folder/socket"));
    let error = Listener::bind("127.0.0.1:x").await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.1:x"));
}
