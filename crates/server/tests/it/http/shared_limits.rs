//! Limits of callers that several servers count together.

use std::{net::SocketAddr, time::Duration};

use axum::{Router, extract::Request, middleware, response::Response};
use serde_json::json;
use tokio::sync::oneshot;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{Caller, HttpSettings, Rates, Server, Tool};
use turnbuckle_store::{MemoryReplicas, ReplicaStores};
use turnbuckle_transport::{
    Rate,
    http::{Listener, Peer, Settings, serve},
};

use super::{
    ask::{Ask, request},
    raw::{Answer, Raw},
};

const SECRET: [u8; 32] = [7; 32];

/// How many calls a caller may make at once.
const CALLS: u32 = 40;

/// How many sessions a caller may have.
const SESSIONS: usize = 20;

/// A replica that trusts a header with the caller. It runs until this is dropped.
struct Replica {
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

/// Trusts a header; a real layer would check a token.
async fn believe(mut request: Request, next: middleware::Next) -> Response {
    let name = request.headers().get("x-user");
    if let Some(name) = name.and_then(|name| name.to_str().ok()) {
        let caller = Caller::new(name);
        request.extensions_mut().insert(caller);
    }
    next.run(request).await
}

impl Replica {
    async fn start(stores: impl Into<ReplicaStores>) -> Self {
        let rates = Rates::default().with_tool_calls(Rate::new(CALLS, 1));
        let server = Server::new("counted", "1.0.0")
            .tool(Tool::new("now", async || "now"))
            .rates(rates)
            .replicas(stores)
            .secret(&SECRET);
        let live = server.build().expect("a server");
        let mut settings = HttpSettings::default();
        settings.max_sessions_per_caller = SESSIONS;
        let router = Router::new()
            .fallback_service(live.http_with(settings))
            .layer(middleware::from_fn(believe));
        let listener = Listener::bind("127.0.0.1:0").await.expect("a listener");
        let address = listener.local_address().expect("an address");
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(serve(listener, router, Settings::default(), async {
            let _ = stopped.await;
        }));
        Self {
            address,
            _stop: stop,
        }
    }

    async fn ask(&self, who: &str, ask: Ask) -> Answer {
        let ask = ask.with("x-user", who);
        Raw::connect(self.address).await.ask(ask).await
    }

    /// Whether a call is allowed.
    async fn is_let_in(&self, who: &str) -> bool {
        let answer = self.ask(who, Ask::call("now", json!({}))).await;
        let answer = answer.json();
        if answer.get("result").is_some() {
            return true;
        }
        assert_eq!(answer["error"]["code"], 429, "{answer}");
        false
    }

    async fn open(&self, who: &str) -> String {
        let ask = Ask::initialize(Revision::V2025_11_25);
        let answer = self.ask(who, ask).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let id = answer.head.get("mcp-session-id");
        id.expect("a session").to_owned()
    }

    async fn has(&self, who: &str, session: &str) -> bool {
        let ask = Ask::post(request(7, "ping", json!({}))).with("mcp-session-id", session);
        match self.ask(who, ask).await.status() {
            200 => true,
            404 => false,
            status => panic!("{status}"),
        }
    }
}

/// Returns how many of this many calls are allowed. They go to all replicas in turn.
async fn let_in(replicas: &[&Replica], who: &str, calls: u32) -> u32 {
    let mut count = 0;
    for replica in replicas.iter().cycle().take(calls as usize) {
        count += u32::from(replica.is_let_in(who).await);
        // The other replicas learn of a call after it.
        tokio::task::yield_now().await;
    }
    count
}

#[tokio::test]
async fn a_rate_counts_for_all_replicas_together() {
    let stores = MemoryReplicas::default();
    let (one, other) = (
        Replica::start(stores.clone()).await,
        Replica::start(stores).await,
    );
    let begun = std::time::Instant::now();
    // Calls that became available in the meantime, on a machine that may be busy.
    let more = || 5 + 2 * u32::try_from(begun.elapsed().as_secs()).expect("a short time");
    // Each of them alone would allow as many.
    let count = let_in(&[&one, &other], "ada", 4 * CALLS).await;
    assert!(count >= CALLS, "a caller gets its limit: {count}");
    // Half of the limit is given without asking.
    assert!(count <= CALLS * 3 / 2 + more(), "and little more: {count}");
    // A caller that sends everything to one replica gets its whole limit, too.
    let count = let_in(&[&one], "bob", 4 * CALLS).await;
    assert!((CALLS..=CALLS * 3 / 2 + more()).contains(&count), "{count}");
    // Others are not affected.
    assert_eq!(let_in(&[&one, &other], "eve", CALLS / 2).await, CALLS / 2);
}

#[tokio::test]
async fn without_a_store_for_limits_each_replica_counts_for_itself() {
    let stores = || {
        let mut stores = ReplicaStores::from(MemoryReplicas::default());
        stores.limits = None;
        stores
    };
    let (one, other) = (
        Replica::start(stores()).await,
        Replica::start(stores()).await,
    );
    let count = let_in(&[&one, &other], "ada", 4 * CALLS).await;
    assert!(count >= 2 * CALLS, "{count}");
}

#[tokio::test]
async fn sessions_count_for_all_replicas_together() {
    let stores = MemoryReplicas::default();
    let (one, other) = (
        Replica::start(stores.clone()).await,
        Replica::start(stores).await,
    );
    let (replicas, mut sessions) = ([&one, &other], Vec::new());
    for replica in replicas.iter().cycle().take(3 * SESSIONS) {
        sessions.push(replica.open("ada").await);
        // So that one of them has been silent for the longest time.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let mut left = Vec::new();
    for (number, session) in sessions.iter().enumerate() {
        // Another replica than the one that opened it.
        if replicas[(number + 1) % 2].has("ada", session).await {
            left.push(number);
        }
    }
    let count = left.len();
    assert!(count >= SESSIONS, "a caller has its sessions: {left:?}");
    assert!(count <= SESSIONS * 3 / 2, "and few more: {left:?}");
    assert!(left.contains(&(3 * SESSIONS - 1)), "the newest is there");
    assert!(!left.contains(&0), "the longest silent one has ended");
    let session = one.open("eve").await;
    assert!(other.has("eve", &session).await, "others are not affected");
}

/// Serves like another HTTP server that knows nothing of [`Peer`], until the sender is dropped.
async fn start_elsewhere(settings: HttpSettings) -> (SocketAddr, oneshot::Sender<()>) {
    async fn forget_peer(mut request: Request, next: middleware::Next) -> Response {
        request.extensions_mut().remove::<Peer>();
        next.run(request).await
    }
    let server = Server::new("inside", "1.0.0")
        .tool(Tool::new("now", async || "now"))
        .rates(Rates::default().with_tool_calls(Rate::new(CALLS, 1)));
    let live = server.build().expect("a server");
    let router = Router::new()
        .fallback_service(live.http_with(settings))
        .layer(middleware::from_fn(forget_peer));
    let listener = Listener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_address().expect("an address");
    let (stop, stopped) = oneshot::channel::<()>();
    tokio::spawn(serve(listener, router, Settings::default(), async {
        let _ = stopped.await;
    }));
    (address, stop)
}

/// Sends calls until one is rejected, but at most this many. Returns how many were allowed, and the
/// error.
async fn until_refused(at: SocketAddr, from: &str, calls: u32) -> (u32, String) {
    let mut raw = Raw::connect(at).await;
    for count in 0..calls {
        let ask = Ask::call("now", json!({})).with("x-address", from);
        let answer = raw.ask(ask).await.json();
        if let Some(error) = answer.get("error") {
            assert_eq!(error["code"], 429, "{answer}");
            return (count, error["message"].to_string());
        }
    }
    (calls, String::new())
}

// rule: T3
#[tokio::test]
async fn callers_of_unknown_address_have_a_rate_together() {
    let (at, _stop) = start_elsewhere(HttpSettings::default()).await;
    let (count, message) = until_refused(at, "192.0.2.1:1", 10 * CALLS).await;
    assert!((CALLS..10 * CALLS).contains(&count), "{count}");
    assert!(
        message.contains("`HttpSettings::address_from`"),
        "{message}"
    );
    // Another address changes nothing, because the server does not know it.
    let (count, _) = until_refused(at, "192.0.2.2:1", 10 * CALLS).await;
    assert!(count < CALLS, "{count}");
}

// rule: T3
#[tokio::test]
async fn callers_are_told_apart_by_the_address_that_the_program_knows() {
    let settings = HttpSettings::default().address_from(|request| {
        let address = request.headers.get("x-address")?;
        address.to_str().ok()?.parse().ok()
    });
    let (at, _stop) = start_elsewhere(settings).await;
    for from in ["192.0.2.1:1", "192.0.2.2:1", "[2001:db8::1]:1"] {
        let (count, message) = until_refused(at, from, 10 * CALLS).await;
        assert!((CALLS..10 * CALLS).contains(&count), "{from}: {count}");
        assert!(message.contains("of this caller"), "{message}");
    }
    // Callers on this machine are not counted, as with the server's own listener.
    let (count, _) = until_refused(at, "127.0.0.1:1", 3 * CALLS).await;
    assert_eq!(count, 3 * CALLS);
}
