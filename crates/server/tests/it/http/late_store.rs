//! Replicas whose store answers late: a client subscribes at one replica and listens at another.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::sync::watch;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Resource, Server};
use turnbuckle_store::{
    BoxFuture, MemoryReplicas, ReplicaStores, StoreError,
    session::{SessionChange, SessionState, Sessions},
};

use super::{
    ask::request,
    raw::Raw,
    site::{Session, Site},
};
use crate::gate::Gate;

const SECRET: [u8; 32] = [7; 32];

const URIS: [&str; 3] = ["clock://now", "clock://then", "clock://never"];

/// Sessions that can be stored at any time, but read only while the gate is open.
struct LateSessions {
    sessions: Arc<dyn Sessions>,
    is_open: watch::Receiver<bool>,
}

impl Sessions for LateSessions {
    fn read<'a>(&'a self, session: &'a str) -> BoxFuture<'a, Result<SessionState, StoreError>> {
        Box::pin(async move {
            let mut is_open = self.is_open.clone();
            let _ = is_open.wait_for(|is_open| *is_open).await;
            self.sessions.read(session).await
        })
    }

    fn write<'a>(
        &'a self,
        session: &'a str,
        change: SessionChange,
        keep: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.sessions.write(session, change, keep)
    }

    fn keep_handshake<'a>(
        &'a self,
        session: &'a str,
        part: Vec<u8>,
        keep: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.sessions.keep_handshake(session, part, keep)
    }

    fn handshake<'a>(
        &'a self,
        session: &'a str,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, StoreError>> {
        self.sessions.handshake(session)
    }
}

/// Two replicas, and the gate of their store.
async fn replicas() -> (Site, Site, watch::Sender<bool>) {
    let (gate, is_open) = watch::channel(true);
    let mut stores = ReplicaStores::from(MemoryReplicas::default());
    stores.sessions = Arc::new(LateSessions {
        sessions: stores.sessions,
        is_open,
    });
    let replica = async || {
        let server = Server::new("clocks", "1.0.0")
            .replicas(stores.clone())
            .secret(&SECRET);
        let server = URIS.iter().fold(server, |server, uri| {
            server.resource(Resource::new(*uri, async || "noon"))
        });
        Site::serving(server, Gate::new(), |http| http).await
    };
    (replica().await, replica().await, gate)
}

/// Opens a session on one replica, and its stream on the other.
async fn listening(here: &Site, there: &Site) -> (Session, Raw) {
    let session = Session::open(here, Revision::V2025_06_18).await;
    let elsewhere = Session {
        address: there.address,
        ..session.clone()
    };
    let standing = elsewhere.listen().await;
    (session, standing)
}

async fn change(session: &Session, method: &str, uri: &str) {
    let answer = session
        .post(request(1, method, json!({ "uri": uri })))
        .await;
    assert!(answer.json().get("result").is_some(), "{}", answer.text());
}

/// Returns the URI of the next resource that is reported as changed.
async fn updated(stream: &mut Raw) -> String {
    loop {
        let event = stream.event().await.expect("the stream goes on");
        if event.data.is_empty() {
            continue;
        }
        let told: Value = serde_json::from_str(&event.data).expect("data is JSON");
        // The lists may have changed before this replica knew the session.
        if told["method"] == "notifications/resources/updated" {
            let uri = told["params"]["uri"].as_str();
            return uri.expect("a URI").to_owned();
        }
    }
}

#[tokio::test]
async fn a_change_that_overtakes_its_subscription_is_told() {
    let (here, there, gate) = replicas().await;
    let (session, mut standing) = listening(&here, &there).await;
    gate.send_replace(false);
    change(&session, "resources/subscribe", URIS[0]).await;
    // The other replica receives the change now, but cannot know yet which clients are subscribed.
    here.live.changes().resource(URIS[0]);
    gate.send_replace(true);
    assert_eq!(updated(&mut standing).await, URIS[0]);
}

#[tokio::test]
async fn what_did_not_change_after_the_subscription_is_not_told() {
    let (here, there, gate) = replicas().await;
    let (session, mut standing) = listening(&here, &there).await;
    gate.send_replace(false);
    for uri in URIS {
        change(&session, "resources/subscribe", uri).await;
    }
    change(&session, "resources/unsubscribe", URIS[1]).await;
    here.live.changes().resource(URIS[1]);
    here.live.changes().resource(URIS[2]);
    gate.send_replace(true);
    assert_eq!(updated(&mut standing).await, URIS[2]);
    here.live.changes().resource(URIS[1]);
    here.live.changes().resource(URIS[0]);
    assert_eq!(updated(&mut standing).await, URIS[0]);
}

#[tokio::test]
async fn who_begins_to_listen_while_the_store_is_away_hears_of_changes_later() {
    let (here, there, gate) = replicas().await;
    let session = Session::open(&here, Revision::V2025_06_18).await;
    change(&session, "resources/subscribe", URIS[0]).await;
    gate.send_replace(false);
    let elsewhere = Session {
        address: there.address,
        ..session.clone()
    };
    let mut standing = elsewhere.listen().await;
    gate.send_replace(true);
    // The client sends nothing, and the other replica reads its subscriptions in time.
    let heard = tokio::time::timeout(Duration::from_secs(10), async {
        let mut telling = tokio::time::interval(Duration::from_millis(50));
        let mut heard = std::pin::pin!(updated(&mut standing));
        loop {
            tokio::select! {
                uri = &mut heard => return uri,
                _ = telling.tick() => here.live.changes().resource(URIS[0]),
            }
        }
    });
    assert_eq!(heard.await.expect("it hears of changes"), URIS[0]);
}
