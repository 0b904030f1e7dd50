//! Changes for one caller are not reported to other callers.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use turnbuckle_client::{Change, ChangeStream, Connection, Era, Listen, Target};
use turnbuckle_gateway::{
    Gateway, Isolation, LiveGateway, UpstreamSettings,
    observe::{Period, Recorder},
    personal::{CallerAccess, SignIn},
};
use turnbuckle_host::ServerSpec;
use turnbuckle_server::{BoxFuture, Caller};

use crate::{
    child,
    site::{client, join_as},
    upstream,
};

const NOTE: &str = "note://one";

async fn listen(connection: &Connection) -> ChangeStream {
    let listen = Listen::new().resource(NOTE);
    connection.listen(listen).await.expect("a stream")
}

async fn hears(changes: &mut ChangeStream) {
    loop {
        let change = changes.next().await.expect("a change").expect("a change");
        if matches!(&change, Change::ResourceUpdated { uri, .. } if &**uri == NOTE) {
            return;
        }
    }
}

/// Whether a change has already arrived.
fn has_heard(changes: &mut ChangeStream) -> bool {
    let mut next = std::pin::pin!(changes.next());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    next.as_mut().poll(&mut context).is_ready()
}

/// Touches the note in the session of one caller until that caller is notified. Returns how often
/// this was needed.
async fn touch(caller: &Connection, changes: &mut ChangeStream, tool: &str) -> usize {
    // The session may not be subscribed yet.
    let mut heard = std::pin::pin!(hears(changes));
    for touched in 1.. {
        caller.call(tool, json!({})).await.expect("touched");
        let pause = std::time::Duration::from_millis(50);
        if tokio::time::timeout(pause, heard.as_mut()).await.is_ok() {
            return touched;
        }
    }
    unreachable!("it is touched until it is heard of")
}

async fn only_its_own(front: Era, gateway: &LiveGateway, tool: &str) {
    let client = client(front);
    let ada = join_as(&client, gateway, "ada").await;
    let eve = join_as(&client, gateway, "eve").await;
    // Each caller gets its session.
    for caller in [&ada, &eve] {
        caller.call(tool, json!({})).await.expect("touched");
    }
    let (mut adas, mut eves) = (listen(&ada).await, listen(&eve).await);
    // Her first call may be reported too, and so may possible changes before her session was subscribed.
    let most = touch(&ada, &mut adas, tool).await + 2;
    touch(&eve, &mut eves, tool).await;
    for _ in 0..most {
        eve.call(tool, json!({})).await.expect("touched");
        hears(&mut eves).await;
    }
    // Some of her own notifications may still arrive, so only a higher number is an error.
    let mut heard = 1;
    while has_heard(&mut adas) {
        heard += 1;
    }
    assert!(heard <= most, "{front:?}: ada hears of eve's note");
}

#[tokio::test]
async fn a_caller_with_a_process_of_its_own_hears_of_its_changes_alone() {
    for front in [Era::Legacy, Era::Modern] {
        for era in [Era::Legacy, Era::Modern] {
            let settings = UpstreamSettings::new()
                .isolation(Isolation::Caller)
                .era(era);
            let gateway = Gateway::new("gateway", "1.0.0")
                .server_with("one", child::spec(), settings)
                .open()
                .expect("a gateway");
            gateway.settled().await;
            only_its_own(front, &gateway, "touch").await;
            gateway.close().await;
        }
    }
}

/// Each caller has its own server.
struct Own;

impl CallerAccess for Own {
    fn server_for<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        Box::pin(async {
            let live = upstream::server().build().expect("a server");
            Some(ServerSpec::from_fn(move || {
                let live = live.clone();
                Target::on_demand("own".to_owned(), move || live.connect())
            }))
        })
    }

    fn sign_in<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>> {
        Box::pin(async { Err("there is no need to".to_owned()) })
    }
}

#[tokio::test]
async fn a_caller_with_a_server_of_its_own_hears_of_its_changes_alone() {
    for front in [Era::Legacy, Era::Modern] {
        let gateway = Gateway::new("gateway", "1.0.0")
            .server_per_caller("one", Arc::new(Own), UpstreamSettings::new())
            .open()
            .expect("a gateway");
        only_its_own(front, &gateway, "one__touch").await;
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_caller_that_only_listens_leaves_its_process_to_others() {
    for front in [Era::Legacy, Era::Modern] {
        let settings = UpstreamSettings::new()
            .isolation(Isolation::Caller)
            .max_processes(2);
        let gateway = Gateway::new("gateway", "1.0.0")
            .server_with("one", child::spec(), settings)
            .open()
            .expect("a gateway");
        gateway.settled().await;
        let client = client(front);
        let ada = join_as(&client, &gateway, "ada").await;
        let eve = join_as(&client, &gateway, "eve").await;
        let mut adas = listen(&ada).await;
        touch(&ada, &mut adas, "touch").await;
        // One of the two processes reads the lists, and ada has the other.
        let served = eve.call("touch", json!({})).await.expect("an answer");
        assert!(!served.is_error(), "{front:?} {served:?}");
        gateway.close().await;
    }
}

/// One of the two processes reads the lists, and ada uses the other when eve calls.
#[tokio::test]
async fn a_call_that_waits_has_the_process_that_becomes_idle() {
    let settings = UpstreamSettings::new()
        .isolation(Isolation::Caller)
        .max_processes(2);
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("one", child::spec(), settings)
        .observe(Recorder::new())
        .open()
        .expect("a gateway");
    gateway.settled().await;
    let client = client(Era::Modern);
    let ada = join_as(&client, &gateway, "ada").await;
    let eve = join_as(&client, &gateway, "eve").await;
    let waiting = tokio::spawn(async move { ada.call("wait", json!({})).await });
    let processes = || {
        gateway
            .overview(Period::default())
            .expect("a recorder")
            .servers[0]
            .processes
    };
    while processes() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut served = std::pin::pin!(eve.call("echo", json!({})).into_future());
    let soon = tokio::time::timeout(Duration::from_secs(2), served.as_mut()).await;
    assert!(soon.is_err(), "{soon:?}");
    waiting.abort();
    let served = tokio::time::timeout(Duration::from_secs(20), served).await;
    served.expect("there is room").expect("an answer");
    gateway.close().await;
}

#[tokio::test]
async fn an_idle_process_makes_room_for_one_of_another_server() {
    let settings = UpstreamSettings::new().isolation(Isolation::Caller);
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_with("one", child::spec(), settings.clone())
        .server_with("two", child::spec(), settings)
        .max_processes(1)
        .open()
        .expect("a gateway");
    gateway.settled().await;
    let client = client(Era::Legacy);
    let ada = join_as(&client, &gateway, "ada").await;
    for tool in ["one__echo", "two__echo", "one__echo"] {
        let served = ada.call(tool, json!({})).into_future();
        let served = tokio::time::timeout(Duration::from_secs(20), served).await;
        let served = served.expect("there is room").expect("an answer");
        assert!(!served.is_error(), "{tool}: {served:?}");
    }
    gateway.close().await;
}

/// The calls of ada wait, in as many processes as one caller may have.
#[tokio::test]
async fn calls_of_one_caller_that_wait_leave_processes_to_others() {
    for front in [Era::Legacy, Era::Modern] {
        let settings = UpstreamSettings::new()
            .isolation(Isolation::Call)
            .max_processes(3);
        let gateway = Gateway::new("gateway", "1.0.0")
            .server_with("one", child::spec(), settings)
            .open()
            .expect("a gateway");
        gateway.settled().await;
        let client = client(front);
        let ada = join_as(&client, &gateway, "ada").await;
        let eve = join_as(&client, &gateway, "eve").await;
        let waiting: Vec<_> = (0..3)
            .map(|_| {
                let ada = ada.clone();
                tokio::spawn(async move { ada.call("wait", json!({})).await })
            })
            .collect();
        for _ in 0..3 {
            let served = eve.call("echo", json!({}));
            let served = tokio::time::timeout(Duration::from_secs(20), served).await;
            let served = served.expect("there is room").expect("an answer");
            assert!(!served.is_error(), "{front:?} {served:?}");
        }
        waiting.iter().for_each(tokio::task::JoinHandle::abort);
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_caller_whose_first_request_listens_hears_of_its_own_server() {
    let gateway = Gateway::new("gateway", "1.0.0")
        .server_per_caller("one", Arc::new(Own), UpstreamSettings::new())
        .open()
        .expect("a gateway");
    let ada = join_as(&client(Era::Modern), &gateway, "ada").await;
    let mut changes = listen(&ada).await;
    // The client is notified because the resource may have changed before the server was asked.
    let heard = tokio::time::timeout(Duration::from_mins(1), hears(&mut changes)).await;
    assert!(heard.is_ok(), "it does not hear of its server");
    touch(&ada, &mut changes, "one__touch").await;
    gateway.close().await;
}

#[tokio::test]
async fn a_client_listens_in_the_session_that_its_calls_run_in() {
    for front in [Era::Legacy, Era::Modern] {
        let settings = UpstreamSettings::new()
            .isolation(Isolation::Client)
            .era(Era::Legacy);
        let gateway = Gateway::new("gateway", "1.0.0")
            .server_with("one", child::spec(), settings)
            .observe(Recorder::new())
            .open()
            .expect("a gateway");
        gateway.settled().await;
        // The client can be asked, and its session with the server declares this.
        let ada = join_as(&client(front), &gateway, "ada").await;
        ada.call("touch", json!({})).await.expect("touched");
        let mut changes = listen(&ada).await;
        touch(&ada, &mut changes, "touch").await;
        let overview = gateway.overview(Period::default()).expect("a recorder");
        // One process reads the lists, and the other is ada's.
        assert_eq!(overview.servers[0].processes, 2, "{front:?}");
        gateway.close().await;
    }
}
