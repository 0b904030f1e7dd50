//! Tests for stores of limits.

use std::time::{Duration, SystemTime};

use crate::{
    bus::NodeId,
    limit::{OpenCount, RateGrant, RateRequest, SharedLimits},
};

/// How long a reported count is valid in the test: longer than the test takes.
const KEEP: Duration = Duration::from_mins(1);

/// Tests the contract of [`SharedLimits`] on an empty store. It uses the real clock and takes a moment.
///
/// # Panics
/// If a clause is violated. The message names the clause.
pub async fn limits(store: &impl SharedLimits) {
    all_take_from_one(store).await;
    what_is_owed_counts(store).await;
    what_all_hold_is_known(store).await;
}

async fn take(store: &impl SharedLimits, caller: &str, owed: u32, wanted: u32) -> RateGrant {
    // The rate is so slow that nothing is refilled while the test runs.
    let mut request = RateRequest::new(caller, "calls", 10, 1);
    (request.owed, request.wanted) = (owed, wanted);
    let grant = store.take(request, SystemTime::now()).await;
    grant.unwrap_or_else(|error| panic!("the limit cannot be used: {error}"))
}

async fn all_take_from_one(store: &impl SharedLimits) {
    assert_eq!(take(store, "ada", 0, 4).await.granted, 4);
    assert_eq!(take(store, "ada", 0, 4).await.granted, 4);
    let rest = take(store, "ada", 0, 4).await;
    assert_eq!(rest.granted, 2, "the rest of the limit is granted");
    let none = take(store, "ada", 0, 4).await;
    assert_eq!(none.granted, 0, "nothing is granted beyond the limit");
    let second = Duration::from_secs(1);
    assert!(
        !none.wait.is_zero() && none.wait <= second,
        "the answer says how long to wait for more: {none:?}"
    );
    assert_eq!(
        take(store, "eve", 0, 1).await.granted,
        1,
        "other names have limits of their own"
    );
    tokio::time::sleep(none.wait).await;
    assert_eq!(
        take(store, "ada", 0, 4).await.granted,
        1,
        "more is granted after the wait"
    );
}

async fn what_is_owed_counts(store: &impl SharedLimits) {
    assert_eq!(take(store, "bob", 7, 10).await.granted, 3);
    let late = take(store, "bob", 1000, 1).await;
    assert_eq!(late.granted, 0);
    assert!(
        late.wait <= Duration::from_secs(1),
        "no wait is longer than the time that refills the whole limit: {late:?}"
    );
}

async fn what_all_hold_is_known(store: &impl SharedLimits) {
    let (one, other) = (NodeId::new(1), NodeId::new(2));
    let hold = async |caller, node, count, keep| {
        let open = OpenCount::new(caller, "sessions", node, count, keep);
        let held = store.report_open(open, SystemTime::now()).await;
        let mut held = held.unwrap_or_else(|error| panic!("a count cannot be reported: {error}"));
        held.sort();
        held
    };
    assert_eq!(hold("ada", one, 3, KEEP).await, [(one, 3)]);
    assert_eq!(hold("ada", other, 4, KEEP).await, [(one, 3), (other, 4)]);
    assert_eq!(hold("ada", one, 1, KEEP).await, [(one, 1), (other, 4)]);
    assert_eq!(hold("eve", one, 5, KEEP).await, [(one, 5)]);
    let moment = Duration::from_millis(20);
    hold("bob", one, 5, moment).await;
    tokio::time::sleep(2 * moment).await;
    let held = hold("bob", other, 6, KEEP).await;
    assert_eq!(
        held,
        [(other, 6)],
        "a count that is not reported again expires"
    );
}
