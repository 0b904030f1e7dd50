//! Callers whose servers and credentials change while they are in use.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::{sync::Semaphore, time};
use turnbuckle_client::{Change, Client, Connection, Listen, Target};
use turnbuckle_gateway::{
    Gateway, LiveGateway, UpstreamSettings,
    personal::{CallerAccess, SignIn},
};
use turnbuckle_host::ServerSpec;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{BoxFuture, Caller, Resource, Server, Tool};

use crate::site::join_as;

const NOTE: &str = "note://own";

/// A server of each caller, with a tool that returns the credentials it was started with.
struct Changing {
    /// The number of the credentials; 0 if the caller has none.
    credentials: AtomicU64,
    /// How often the server was looked up.
    looked: AtomicU64,
    /// Each look-up takes one permit.
    permits: Semaphore,
}

impl Changing {
    fn new(credentials: u64) -> Arc<Self> {
        Self::with(credentials, Semaphore::MAX_PERMITS)
    }

    /// Makes an access whose look-ups wait until they get a permit.
    fn hanging(credentials: u64) -> Arc<Self> {
        Self::with(credentials, 0)
    }

    fn with(credentials: u64, permits: usize) -> Arc<Self> {
        Arc::new(Self {
            credentials: AtomicU64::new(credentials),
            looked: AtomicU64::new(0),
            permits: Semaphore::new(permits),
        })
    }

    fn looked(&self) -> u64 {
        self.looked.load(Ordering::SeqCst)
    }

    fn set(&self, credentials: u64) {
        self.credentials.store(credentials, Ordering::SeqCst);
    }
}

impl CallerAccess for Changing {
    fn server_for<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        Box::pin(async {
            self.looked.fetch_add(1, Ordering::SeqCst);
            self.permits.acquire().await.expect("it is open").forget();
            let credentials = self.credentials.load(Ordering::SeqCst);
            let server = Server::new("own", "1")
                .resource(Resource::new(NOTE, async || "a note"))
                .tool(Tool::new("whose", move || async move {
                    credentials.to_string()
                }));
            let live = server.build().expect("a server");
            (credentials > 0).then(|| {
                ServerSpec::from_fn(move || {
                    let live = live.clone();
                    Target::on_demand("own".to_owned(), move || live.connect())
                })
            })
        })
    }

    fn credentials(&self, _: &Caller) -> u64 {
        self.credentials.load(Ordering::SeqCst)
    }

    fn sign_in<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>> {
        Box::pin(async { Err("there is no need to".to_owned()) })
    }
}

fn gateway(own: &Arc<Changing>) -> Gateway {
    let shared = Server::new("shared", "1").tool(Tool::new("ping", async || "pong"));
    Gateway::new("gateway", "1")
        .mount("shared", shared)
        .expect("a server")
        .server_per_caller("own", Arc::clone(own) as Arc<_>, UpstreamSettings::new())
}

fn opened(own: &Arc<Changing>) -> LiveGateway {
    gateway(own).open().expect("a gateway")
}

fn plain() -> Client {
    Client::new("plain", "1").only(Revision::V2025_06_18)
}

async fn whose(caller: &Connection) -> Result<String, String> {
    let said = caller.call("own__whose", json!({})).await;
    said.map(|said| said.text())
        .map_err(|error| error.to_string())
}

#[tokio::test]
async fn new_credentials_start_a_server_once_for_all_requests() {
    let own = Changing::new(1);
    let gateway = opened(&own);
    let ada = join_as(&plain(), &gateway, "ada").await;
    let end = Caller::new("ada").with_scopes(["few"]);
    let end = gateway.server().connect_as(end);
    let scoped = plain().connect(end).await.expect("the gateway answers");
    for caller in [&ada, &scoped] {
        assert_eq!(whose(caller).await.as_deref(), Ok("1"));
    }
    assert_eq!(own.looked(), 2);
    own.set(2);
    // Requests of both clients arrive at the same time; each of them uses the new credentials.
    let said = tokio::join!(
        whose(&ada),
        whose(&ada),
        whose(&ada),
        whose(&scoped),
        whose(&scoped)
    );
    let two = Ok("2".to_owned());
    let expected = (two.clone(), two.clone(), two.clone(), two.clone(), two);
    assert_eq!(said, expected);
    assert_eq!(own.looked(), 4);
    gateway.close().await;
}

#[tokio::test]
async fn a_caller_that_has_signed_out_has_the_server_no_more() {
    let own = Changing::new(1);
    let gateway = opened(&own);
    let ada = join_as(&plain(), &gateway, "ada").await;
    assert_eq!(whose(&ada).await.as_deref(), Ok("1"));
    own.set(0);
    assert!(whose(&ada).await.is_err());
    let tools = ada.tools().await.expect("a list");
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["shared__ping", "own__sign_in"]);
    own.set(2);
    assert_eq!(whose(&ada).await.as_deref(), Ok("2"));
    // A client with an old list may still call the sign-in tool.
    let again = ada.call("own__sign_in", json!({})).await.expect("a result");
    assert!(again.text().contains("Signed in"), "{}", again.text());
    gateway.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_look_up_that_hangs_is_waited_for_once() {
    let own = Changing::hanging(1);
    let gateway = opened(&own);
    let ada = join_as(&plain(), &gateway, "ada").await;
    ada.call("shared__ping", json!({})).await.expect("a result");
    // With paused time, only a timer advances the clock here.
    let began = time::Instant::now();
    for _ in 0..3 {
        ada.call("shared__ping", json!({})).await.expect("a result");
    }
    assert!(began.elapsed() < Duration::from_secs(1), "{began:?}");
    assert_eq!(own.looked(), 1);
    gateway.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_look_up_that_never_ends_is_begun_again() {
    let own = Changing::hanging(1);
    let gateway = opened(&own);
    let ada = join_as(&plain(), &gateway, "ada").await;
    let mut passed = Duration::ZERO;
    while own.looked() < 2 {
        ada.call("shared__ping", json!({})).await.expect("a result");
        time::sleep(Duration::from_secs(5)).await;
        passed += Duration::from_secs(5);
        assert!(passed < Duration::from_mins(10), "it is waited for");
    }
    gateway.close().await;
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_followed_when_its_server_comes_late() {
    let own = Changing::hanging(1);
    let gateway = opened(&own);
    let client = Client::new("plain", "1").only(Revision::V2026_07_28);
    let ada = join_as(&client, &gateway, "ada").await;
    let listen = Listen::new().resource(NOTE);
    let mut changes = ada.listen(listen).await.expect("a stream");
    // The subscription has waited for the server as long as a request does.
    time::sleep(Duration::from_secs(30)).await;
    own.permits.add_permits(1);
    let told = async {
        loop {
            let change = changes.next().await.expect("a change").expect("a change");
            if matches!(&change, Change::ResourceUpdated { uri, .. } if &**uri == NOTE) {
                return;
            }
        }
    };
    let told = time::timeout(Duration::from_mins(10), told).await;
    assert!(told.is_ok(), "it is not followed");
    gateway.close().await;
}

#[cfg(feature = "cel")]
mod rules {
    use turnbuckle_gateway::operation::{Operation, Policy, PolicyRule};
    use turnbuckle_protocol::ElicitResult;

    use super::*;

    fn governed(own: &Arc<Changing>, rule: PolicyRule) -> LiveGateway {
        let policy = Policy::new().rule(rule);
        let operation = Arc::new(Operation::new().policy(policy));
        gateway(own).operation(operation).open().expect("a gateway")
    }

    #[tokio::test]
    async fn a_call_is_not_sent_to_a_server_that_no_rule_has_judged() {
        let own = Changing::new(0);
        let rule = PolicyRule::for_all().ask(["*"]).deny_if("server == 'own'");
        let gateway = governed(&own, rule.expect("a condition"));
        // The caller signs in elsewhere, and the config changes, while the user is asked.
        let (access, live) = (Arc::clone(&own), gateway.clone());
        let client = plain().on_form(move |_| {
            let (access, live) = (Arc::clone(&access), live.clone());
            async move {
                access.set(1);
                live.add_per_caller("own", access, UpstreamSettings::new())
                    .await;
                Ok(ElicitResult::accept([("allow", true)]))
            }
        });
        let ada = join_as(&client, &gateway, "ada").await;
        assert_eq!(ada.tools().await.expect("a list").len(), 1);
        let refused = ada.call("own__whose", json!({})).await;
        let refused = refused.expect_err("it is the server's tool").to_string();
        assert!(refused.contains("servers changed"), "{refused}");
        // The call is judged by the current facts.
        let denied = ada.call("own__whose", json!({})).await;
        let denied = denied.expect_err("a rule denies it").to_string();
        assert!(denied.contains("unknown tool"), "{denied}");
        gateway.close().await;
    }

    #[tokio::test]
    async fn calls_that_wait_for_what_a_rule_needs_count() {
        let own = Changing::hanging(1);
        let rule = PolicyRule::for_all().concurrency(1);
        let rule = rule.deny_if("server == 'other'").expect("a condition");
        let gateway = governed(&own, rule);
        let ada = join_as(&plain(), &gateway, "ada").await;
        let first = {
            let ada = ada.clone();
            tokio::spawn(async move { whose(&ada).await })
        };
        while own.looked() == 0 {
            tokio::task::yield_now().await;
        }
        let limited = ada.call("own__whose", json!({})).await;
        let limited = limited.expect_err("one runs").to_string();
        assert!(limited.contains("at once"), "{limited}");
        own.permits.add_permits(1);
        assert_eq!(first.await.expect("an answer").as_deref(), Ok("1"));
        gateway.close().await;
    }
}
