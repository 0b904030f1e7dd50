//! Tests for stores of used states.

use std::sync::Arc;

use crate::{StateClaim, StateUse, UsedStates};

/// How many callers use one state at the same time.
const AT_ONCE: usize = 32;

/// The owner of the states.
const OWNER: u64 = 7;

/// Tests that a store of used states satisfies the contract of [`UsedStates`]. `open` returns an
/// empty store.
///
/// # Panics
/// If the contract is violated, because this is a test.
pub async fn used_states<S: UsedStates>(open: impl AsyncFn() -> S) {
    a_state_is_used_once(&open().await).await;
    of_many_at_once_one_wins(open().await).await;
}

async fn a_state_is_used_once(store: &impl UsedStates) {
    let claim = async |id: &[u8], now| {
        let used = StateUse::new(id, OWNER, 1_000, now);
        store.claim(used).await.expect("it answers")
    };
    assert_eq!(claim(b"a", 0).await, StateClaim::FirstUse);
    assert_eq!(claim(b"a", 0).await, StateClaim::AlreadyUsed);
    assert_eq!(
        claim(b"b", 0).await,
        StateClaim::FirstUse,
        "states with different ids are separate"
    );
    assert_eq!(
        claim(b"", 0).await,
        StateClaim::FirstUse,
        "an id may consist of any bytes"
    );
    assert_eq!(
        claim(b"a", 1_000).await,
        StateClaim::AlreadyUsed,
        "until the second in which it expires"
    );
}

async fn of_many_at_once_one_wins(store: impl UsedStates) {
    let store = Arc::new(store);
    let uses: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let used = StateUse::new(b"one", OWNER, 1_000, 0);
                store.claim(used).await.expect("it answers")
            })
        })
        .collect();
    let mut first = 0;
    for used in uses {
        first += usize::from(used.await.expect("it does not panic") == StateClaim::FirstUse);
    }
    assert_eq!(first, 1, "one state was used by {first}");
}
