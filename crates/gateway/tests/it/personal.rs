//! Servers that each caller signs in to.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::sync::{Notify, watch};
use turnbuckle_client::{Client, Connection, Listen, Target};
use turnbuckle_gateway::{
    Gateway, LiveGateway, UpstreamSettings,
    personal::{CallerAccess, SignIn, SignInState},
};
use turnbuckle_host::ServerSpec;
use turnbuckle_protocol::{ElicitResult, Revision};
use turnbuckle_server::{BoxFuture, Caller, Server, Tool};

use crate::site::join_as;

/// Callers that have signed in. Each has its own server, which says whose it is.
#[derive(Default)]
struct Doors {
    signed_in: Mutex<HashSet<String>>,
    waiting: Mutex<Vec<(String, watch::Sender<SignInState>)>>,
    /// The initial state of new sign-ins.
    state: Mutex<SignInState>,
    /// Notified when a sign-in was requested.
    asked: Notify,
}

impl Doors {
    /// The caller's user visits the URL and signs in.
    fn visit(&self, url: &str) {
        let caller = url.rsplit('/').next().unwrap_or_default().to_owned();
        self.signed_in.lock().unwrap().insert(caller.clone());
        let mut waiting = self.waiting.lock().unwrap();
        for (_, state) in waiting.extract_if(.., |(other, _)| *other == caller) {
            state.send_replace(SignInState::Ended(Ok(())));
        }
    }
}

impl CallerAccess for Doors {
    fn server_for<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        let id = caller.id().unwrap_or_default().to_owned();
        let is_in = self.signed_in.lock().unwrap().contains(&id);
        Box::pin(async move {
            is_in.then(|| {
                ServerSpec::from_fn(move || {
                    let id = id.clone();
                    let server = Server::new("own", "1").tool(Tool::new("whose", move || {
                        let id = id.clone();
                        async move { id }
                    }));
                    let live = server.build().expect("a server");
                    Target::on_demand("own".to_owned(), move || live.connect())
                })
            })
        })
    }

    fn sign_in<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>> {
        let id = caller.id().unwrap_or_default().to_owned();
        let (tell, state) = watch::channel(self.state.lock().unwrap().clone());
        self.waiting.lock().unwrap().push((id.clone(), tell));
        self.asked.notify_one();
        let url = format!("https://login.example/{id}");
        Box::pin(async move { Ok(SignIn::new(url, state)) })
    }
}

fn gateway(doors: &Arc<Doors>) -> LiveGateway {
    Gateway::new("gateway", "1")
        .mount(
            "shared",
            Server::new("shared", "1").tool(Tool::new("ping", async || "pong")),
        )
        .expect("a server")
        .server_per_caller("own", Arc::clone(doors) as Arc<_>, UpstreamSettings::new())
        .open()
        .expect("a gateway")
}

/// A client whose user signs in at the URL.
fn client(revision: Revision, doors: &Arc<Doors>) -> Client {
    let doors = Arc::clone(doors);
    Client::new("front", "1").only(revision).on_url(move |ask| {
        doors.visit(&ask.url);
        async { Ok(ElicitResult::accept_visit()) }
    })
}

async fn names(client: &Connection) -> Vec<String> {
    let tools = client.tools().await.expect("a list");
    tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn a_caller_signs_in_by_a_url_and_has_its_own_server() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let doors = Arc::new(Doors::default());
        let gateway = gateway(&doors);
        let client = client(revision, &doors);
        let ada = join_as(&client, &gateway, "ada").await;
        let bob = join_as(&client, &gateway, "bob").await;
        for caller in [&ada, &bob] {
            assert_eq!(
                names(caller).await,
                ["shared__ping", "own__sign_in"],
                "{revision}"
            );
        }
        let done = ada.call("own__sign_in", json!({})).await.expect("a result");
        assert!(
            done.text().contains("Signed in"),
            "{revision}: {}",
            done.text()
        );
        assert_eq!(
            names(&ada).await,
            ["shared__ping", "own__whose"],
            "{revision}"
        );
        let said = ada.call("own__whose", json!({})).await.expect("a result");
        assert_eq!(said.text(), "ada", "{revision}");
        // The other caller does not have the server.
        assert_eq!(
            names(&bob).await,
            ["shared__ping", "own__sign_in"],
            "{revision}"
        );
        assert!(
            bob.call("own__whose", json!({})).await.is_err(),
            "{revision}"
        );
        bob.call("own__sign_in", json!({})).await.expect("a result");
        let said = bob.call("own__whose", json!({})).await.expect("a result");
        assert_eq!(said.text(), "bob", "{revision}");
        let said = ada.call("own__whose", json!({})).await.expect("a result");
        assert_eq!(said.text(), "ada", "{revision}");
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_client_that_cannot_be_sent_there_gets_a_link() {
    for revision in Revision::NEWEST_FIRST {
        let doors = Arc::new(Doors::default());
        let gateway = gateway(&doors);
        let plain = Client::new("plain", "1").only(*revision);
        let ada = join_as(&plain, &gateway, "ada").await;
        let sent = ada.call("own__sign_in", json!({})).await.expect("a result");
        assert!(
            sent.text().contains("https://login.example/ada"),
            "{}",
            sent.text()
        );
        assert_eq!(sent.into_result().is_error, Some(true), "{revision}");
        doors.visit("https://login.example/ada");
        let done = ada.call("own__sign_in", json!({})).await.expect("a result");
        assert!(
            done.text().contains("Signed in"),
            "{revision}: {}",
            done.text()
        );
        let said = ada.call("own__whose", json!({})).await.expect("a result");
        assert_eq!(said.text(), "ada", "{revision}");
        gateway.close().await;
    }
}

#[tokio::test]
async fn a_user_who_has_come_back_is_waited_for_and_not_sent_there_again() {
    for revision in Revision::NEWEST_FIRST {
        let doors = Arc::new(Doors::default());
        *doors.state.lock().unwrap() = SignInState::Confirmed;
        let gateway = gateway(&doors);
        let plain = Client::new("plain", "1").only(*revision);
        let ada = join_as(&plain, &gateway, "ada").await;
        let tokens_come = async {
            doors.asked.notified().await;
            doors.visit("https://login.example/ada");
        };
        let sign_in = async { ada.call("own__sign_in", json!({})).await };
        let (done, ()) = tokio::join!(sign_in, tokens_come);
        let said = done.expect("a result").text();
        assert!(said.contains("Signed in"), "{revision}: {said}");
        gateway.close().await;
    }
}

#[cfg(feature = "cel")]
#[tokio::test]
async fn a_policy_knows_the_annotations_of_a_servers_own_sign_in_tool() {
    use turnbuckle_gateway::operation::{Operation, Policy, PolicyRule};

    /// Each caller has a server with a tool of the same name as the gateway's.
    struct SameName;

    impl CallerAccess for SameName {
        fn server_for<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
            Box::pin(async {
                let tool = Tool::new("sign_in", async || "the server's").read_only();
                let live = Server::new("own", "1").tool(tool).build();
                let live = live.expect("a server");
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

    let rule = PolicyRule::for_all().deny_if("annotations.readOnlyHint");
    let policy = Policy::new().rule(rule.expect("a condition"));
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(Operation::new().policy(policy)))
        .server_per_caller("own", Arc::new(SameName), UpstreamSettings::new())
        .open()
        .expect("a gateway");
    let plain = Client::new("plain", "1").only(Revision::V2026_07_28);
    let ada = join_as(&plain, &gateway, "ada").await;
    // The caller's servers are unknown at its first request, so this is the gateway's tool.
    let first = ada.call("own__sign_in", json!({})).await.expect("a result");
    assert!(first.text().contains("Signed in"), "{}", first.text());
    let denied = ada.call("own__sign_in", json!({})).await;
    assert!(denied.is_err(), "the server's tool is called");
    gateway.close().await;
}

/// A server that a caller has only at some times.
#[derive(Default)]
struct Sometimes {
    has_way: AtomicBool,
    can_look_up: AtomicBool,
    /// Whether the authorization server does not answer.
    hangs: bool,
}

impl CallerAccess for Sometimes {
    fn server_for<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        Box::pin(async {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            let has_way = self.has_way.load(Ordering::SeqCst);
            has_way.then(|| {
                let live = Server::new("own", "1").tool(Tool::new("whose", async || "yours"));
                let live = live.build().expect("a server");
                ServerSpec::from_fn(move || {
                    let live = live.clone();
                    Target::on_demand("own".to_owned(), move || live.connect())
                })
            })
        })
    }

    fn can_look_up(&self, _: &Caller) -> bool {
        self.can_look_up.load(Ordering::SeqCst)
    }

    fn has_sign_in(&self) -> bool {
        false
    }

    fn sign_in<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>> {
        Box::pin(async { Err("there is no need to".to_owned()) })
    }
}

fn gateway_with(own: &[(&str, &Arc<Sometimes>)]) -> LiveGateway {
    let shared = Server::new("shared", "1").tool(Tool::new("ping", async || "pong"));
    let mut gateway = Gateway::new("gateway", "1")
        .mount("shared", shared)
        .expect("a server");
    for (name, access) in own {
        let access = Arc::clone(access) as Arc<_>;
        gateway = gateway.server_per_caller(*name, access, UpstreamSettings::new());
    }
    gateway.open().expect("a gateway")
}

#[tokio::test(start_paused = true)]
async fn credentials_that_were_not_found_are_looked_for_again() {
    let own = Arc::new(Sometimes::default());
    own.can_look_up.store(true, Ordering::SeqCst);
    let gateway = gateway_with(&[("own", &own)]);
    let plain = Client::new("plain", "1").only(Revision::V2025_06_18);
    let ada = join_as(&plain, &gateway, "ada").await;
    assert_eq!(names(&ada).await, ["shared__ping"]);
    // The authorization server is available again.
    own.has_way.store(true, Ordering::SeqCst);
    let found = async {
        while !names(&ada).await.contains(&"own__whose".to_owned()) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let found = tokio::time::timeout(Duration::from_mins(2), found).await;
    assert!(found.is_ok(), "it is not looked for again");
    gateway.close().await;
}

#[tokio::test]
async fn a_request_without_a_token_decides_nothing_for_those_with_one() {
    let own = Arc::new(Sometimes::default());
    own.has_way.store(true, Ordering::SeqCst);
    let gateway = gateway_with(&[("own", &own)]);
    let plain = Client::new("plain", "1").only(Revision::V2025_06_18);
    let ada = join_as(&plain, &gateway, "ada").await;
    assert_eq!(names(&ada).await, ["shared__ping"]);
    own.can_look_up.store(true, Ordering::SeqCst);
    assert_eq!(names(&ada).await, ["shared__ping", "own__whose"]);
    gateway.close().await;
}

#[tokio::test(start_paused = true)]
async fn an_authorization_server_that_hangs_holds_up_no_other_server() {
    let (own, hanging) = (Sometimes::default(), Sometimes::default());
    let hanging = Arc::new(Sometimes {
        hangs: true,
        ..hanging
    });
    let own = Arc::new(own);
    for access in [&own, &hanging] {
        access.has_way.store(true, Ordering::SeqCst);
        access.can_look_up.store(true, Ordering::SeqCst);
    }
    let gateway = gateway_with(&[("hanging", &hanging), ("own", &own)]);
    let plain = Client::new("plain", "1").only(Revision::V2025_06_18);
    let ada = join_as(&plain, &gateway, "ada").await;
    assert_eq!(names(&ada).await, ["shared__ping", "own__whose"]);
    gateway.close().await;
}

#[tokio::test]
async fn callers_make_room_for_others_unless_all_are_busy() {
    let doors = Arc::new(Doors::default());
    let gateway = gateway(&doors);
    let client = Client::new("plain", "1").only(Revision::V2026_07_28);
    let mut listening = Vec::new();
    for number in 0..256 {
        let caller = join_as(&client, &gateway, &format!("caller-{number}")).await;
        assert_eq!(names(&caller).await, ["shared__ping", "own__sign_in"]);
        // The first caller stays idle.
        if number > 0 {
            let changes = caller.listen(Listen::lists()).await.expect("a stream");
            listening.push((caller, changes));
        }
    }
    // The first caller is forgotten to make room for this one.
    let next = join_as(&client, &gateway, "next").await;
    assert_eq!(names(&next).await, ["shared__ping", "own__sign_in"]);
    let changes = next.listen(Listen::lists()).await.expect("a stream");
    let late = join_as(&client, &gateway, "late").await;
    let refused = late.tools().await.expect_err("all places are taken");
    assert!(refused.to_string().contains("256 callers"), "{refused}");
    // When a subscription ends, its place becomes free.
    drop(changes);
    next.close().await;
    let served = async {
        while late.tools().await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let served = tokio::time::timeout(Duration::from_mins(2), served).await;
    assert!(served.is_ok(), "no place becomes free");
    drop(listening);
    gateway.close().await;
}

#[cfg(feature = "cel")]
#[tokio::test]
async fn a_rule_knows_the_server_of_a_callers_first_call() {
    use turnbuckle_gateway::operation::{Operation, Policy, PolicyRule};

    let rule = PolicyRule::for_all().deny_if("server == 'own' && tool == 'whose'");
    let policy = Policy::new().rule(rule.expect("a condition"));
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        let own = Arc::new(Sometimes::default());
        own.has_way.store(true, Ordering::SeqCst);
        own.can_look_up.store(true, Ordering::SeqCst);
        let gateway = Gateway::new("gateway", "1")
            .operation(Arc::new(Operation::new().policy(policy.clone())))
            .server_per_caller("own", own, UpstreamSettings::new())
            .open()
            .expect("a gateway");
        let plain = Client::new("plain", "1").only(revision);
        let ada = join_as(&plain, &gateway, "ada").await;
        let denied = ada.call("own__whose", json!({})).await;
        assert!(denied.is_err(), "{revision}: {denied:?}");
        assert!(names(&ada).await.is_empty(), "{revision}");
        gateway.close().await;
    }
}

/// A server of each caller. The first request that opens it waits until it is released.
#[cfg(feature = "cel")]
struct HeldUp {
    is_armed: AtomicBool,
    held: Notify,
    released: Mutex<std::sync::mpsc::Receiver<()>>,
}

#[cfg(feature = "cel")]
impl CallerAccess for HeldUp {
    fn note(&self, _: &Caller) {
        if self.is_armed.swap(false, Ordering::SeqCst) {
            self.held.notify_one();
            tokio::task::block_in_place(|| self.released.lock().unwrap().recv().unwrap());
        }
    }

    fn server_for<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        Box::pin(async {
            let live = Server::new("own", "1").tool(Tool::new("whose", async || "yours"));
            let live = live.build().expect("a server");
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

// A second request of the caller must not be judged by the half-opened state of the first one.
#[cfg(feature = "cel")]
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_rule_knows_the_server_while_another_request_opens_it() {
    use turnbuckle_gateway::operation::{Operation, Policy, PolicyRule};

    let rule = PolicyRule::for_all().deny_if("server == 'own' && tool == 'whose'");
    let policy = Policy::new().rule(rule.expect("a condition"));
    let (release, released) = std::sync::mpsc::channel();
    let own = Arc::new(HeldUp {
        is_armed: AtomicBool::new(false),
        held: Notify::new(),
        released: Mutex::new(released),
    });
    let gateway = Gateway::new("gateway", "1")
        .operation(Arc::new(Operation::new().policy(policy)))
        .server_per_caller("own", Arc::clone(&own) as Arc<_>, UpstreamSettings::new())
        .open()
        .expect("a gateway");
    let plain = Client::new("plain", "1").only(Revision::V2025_06_18);
    let first = join_as(&plain, &gateway, "ada").await;
    let second = join_as(&plain, &gateway, "ada").await;
    own.is_armed.store(true, Ordering::SeqCst);
    let opening = tokio::spawn(async move { first.call("own__whose", json!({})).await.is_err() });
    own.held.notified().await;
    let denied = second.call("own__whose", json!({})).await;
    assert!(denied.is_err(), "{denied:?}");
    release.send(()).expect("it is held up");
    assert!(opening.await.expect("an answer"), "the first call ran");
    gateway.close().await;
}
