//! Tests for stores of sessions.

use std::time::Duration;

use crate::session::{MAX_RESOURCES, SessionChange, SessionState, Sessions};

/// Longer than the test takes.
const KEEP: Duration = Duration::from_mins(10);

/// Tests that a store satisfies the contract of [`Sessions`]. `open` returns an empty store.
///
/// # Panics
/// If the contract is violated, because this is a test.
pub async fn sessions<S: Sessions>(open: impl AsyncFn() -> S) {
    let store = open().await;
    let read = async |session| store.read(session).await.expect("it reads");
    let write =
        async |session, change| store.write(session, change, KEEP).await.expect("it writes");
    let level = |level: &str| SessionChange::LogLevel(level.into());
    let subscribe = |uri: &str| SessionChange::Subscribe(uri.into());

    assert_eq!(
        read("a").await,
        SessionState::default(),
        "the state of an unknown session is empty"
    );
    assert!(write("a", level("info")).await);
    assert!(write("a", level("debug")).await);
    for uri in ["r://1", "r://2", "resource:r://3", ""] {
        assert!(write("a", subscribe(uri)).await);
    }
    assert!(write("a", SessionChange::Unsubscribe("r://1".into())).await);
    assert!(write("a", SessionChange::Unsubscribe("never".into())).await);
    let noted = read("a").await;
    assert_eq!(
        noted.log_level.as_deref(),
        Some("debug"),
        "the last level is kept"
    );
    let resources: Vec<_> = noted.resources.iter().map(String::as_str).collect();
    assert_eq!(resources, ["", "r://2", "resource:r://3"]);
    assert_eq!(
        read("b").await,
        SessionState::default(),
        "sessions have separate states"
    );

    assert!(write("a", SessionChange::End).await);
    assert!(read("a").await.is_ended);
    assert!(
        !write("a", level("info")).await,
        "a session that has ended does not change"
    );
    assert!(read("a").await.is_ended);

    for number in 0..MAX_RESOURCES {
        assert!(write("c", subscribe(&number.to_string())).await);
    }
    assert!(
        !write("c", subscribe("more")).await,
        "the number of subscriptions is limited"
    );
    assert!(
        write("c", subscribe("1")).await,
        "subscribing twice counts once"
    );
    assert!(
        write("c", level("info")).await,
        "the level does not count as a subscription"
    );

    assert_eq!(store.handshake("a").await.expect("it reads"), None);
    let part: Vec<u8> = (0..=255).collect();
    let kept = store.keep_handshake("a", part.clone(), KEEP).await;
    kept.expect("it writes");
    assert_eq!(store.handshake("a").await.expect("it reads"), Some(part));
}
