//! `tasks/list`: who may list tasks, and which tasks are left out.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use turnbuckle_client::{Client, Connection, Era};
use turnbuckle_gateway::{
    Gateway, LiveGateway, Naming, UpstreamSettings,
    personal::{CallerAccess, SignIn},
};
use turnbuckle_host::ServerSpec;
use turnbuckle_protocol::Revision;
use turnbuckle_server::{BoxFuture, Caller, Server, Tool};
use turnbuckle_store::{
    JoinGuard, MemoryReplicas, ReplicaStores, StoreError,
    bus::{Bus, Delivery, Inbox, NodeId, Recipient},
};

use crate::{
    by_hand::{as_caller, as_legacy_caller, call, request},
    process_tasks::{begin_legacy, gateway, replica},
    site::{self, Door, join, listen},
};

const SECRET: [u8; 32] = [7; 32];

async fn listed(client: &Connection) -> Vec<Value> {
    let params = json!({});
    let listing = request(client, "tasks/list", &params);
    let listed = tokio::time::timeout(Duration::from_secs(20), listing);
    let listed = listed.await.expect("in time").expect("a list");
    let tasks = listed["tasks"].as_array().expect("tasks").iter();
    tasks.map(|task| task["taskId"].clone()).collect()
}

// tasks: a server that cannot distinguish its callers MUST NOT list their tasks.
#[tokio::test]
async fn callers_that_cannot_be_told_apart_list_no_tasks() {
    let stores = MemoryReplicas::default();
    let here = replica(Era::Modern, stores.clone()).await;
    let there = replica(Era::Modern, stores).await;
    let client = Client::new("front", "1").only(Revision::LATEST_LEGACY);
    let begins = join(&client, &here, Door::Http).await;
    let task = begin_legacy(&begins, "anybody").await;
    for gateway in [&here, &there] {
        let stranger = join(&client, gateway, Door::Http).await;
        let refused = request(&stranger, "tasks/list", &json!({})).await;
        assert_eq!(refused.expect_err("not offered")["code"], -32601);
        // The user at a pipe of the gateway is not the same as callers at its URL.
        let local = join(&client, gateway, Door::Lines).await;
        assert_eq!(listed(&local).await, Vec::<Value>::new());
        let own = begin_legacy(&local, "local").await;
        assert_eq!(listed(&local).await, [own["taskId"].clone()]);
    }
    // The task is available to everyone who has its id.
    let found = request(&begins, "tasks/get", &task).await.expect("a task");
    assert_eq!(found["status"], "working");
    here.close().await;
    there.close().await;
}

#[tokio::test]
async fn a_server_that_hangs_hides_no_tasks_of_others() {
    let alone = gateway(UpstreamSettings::new().era(Era::Modern)).await;
    let ada = as_legacy_caller(&alone, "ada").await;
    begin_legacy(&ada, "hangs").await;
    let task = begin_legacy(&ada, "ada").await;
    assert_eq!(listed(&ada).await, [task["taskId"].clone()]);
    alone.close().await;

    let stores = MemoryReplicas::default();
    let here = replica(Era::Modern, stores.clone()).await;
    let there = replica(Era::Modern, stores).await;
    let ada = as_legacy_caller(&here, "ada").await;
    begin_legacy(&ada, "hangs").await;
    begin_legacy(&ada, "hangs").await;
    let first = begin_legacy(&ada, "ada").await;
    let ada = as_legacy_caller(&there, "ada").await;
    let second = begin_legacy(&ada, "ada").await;
    let expected = [second["taskId"].clone(), first["taskId"].clone()];
    assert_eq!(listed(&ada).await, expected);
    here.close().await;
    there.close().await;
}

/// A bus that does not know which replicas are present. Whether messages arrive depends on `is_heard`.
struct Forgetful {
    bus: Arc<dyn Bus>,
    is_heard: bool,
}

impl Bus for Forgetful {
    fn join(&self, node: NodeId, inbox: Inbox) -> JoinGuard {
        self.bus.join(node, inbox)
    }

    fn ready(&self, node: NodeId) -> turnbuckle_store::BoxFuture<'_, ()> {
        self.bus.ready(node)
    }

    fn left(&self, node: NodeId) -> turnbuckle_store::BoxFuture<'_, ()> {
        self.bus.left(node)
    }

    fn send(
        &self,
        to: Recipient,
        message: Vec<u8>,
    ) -> turnbuckle_store::BoxFuture<'_, Result<Delivery, StoreError>> {
        if self.is_heard {
            return self.bus.send(to, message);
        }
        Box::pin(async { Ok(Delivery::NoSuchNode) })
    }

    fn is_gone(&self, node: NodeId) -> bool {
        self.bus.is_gone(node)
    }
}

#[tokio::test]
async fn a_replica_that_is_silent_for_a_moment_still_has_its_tasks() {
    for is_heard in [true, false] {
        let shared = ReplicaStores::from(MemoryReplicas::default());
        let mut stores = shared.clone();
        stores.bus = Arc::new(Forgetful {
            bus: shared.bus.clone(),
            is_heard,
        });
        let here = replica(Era::Modern, shared).await;
        let there = replica(Era::Modern, stores).await;
        let ada = as_legacy_caller(&here, "ada").await;
        let task = begin_legacy(&ada, "ada").await;
        let ada = as_legacy_caller(&there, "ada").await;
        let asked = request(&ada, "tasks/get", &task).await;
        if is_heard {
            assert_eq!(asked.expect("the task")["status"], "working");
        } else {
            let error = asked.expect_err("it cannot be reached");
            assert_eq!(error["code"], -32603, "{error}");
            assert!(error.to_string().contains("again"), "{error}");
        }
        here.close().await;
        there.close().await;
    }
}

/// Counts how often the servers of a caller are looked up.
#[derive(Default)]
struct Counting(AtomicUsize);

impl CallerAccess for Counting {
    fn server_for<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { None })
    }

    fn sign_in<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>> {
        Box::pin(async { Err("not here".to_owned()) })
    }
}

async fn personal(stores: MemoryReplicas, access: &Arc<Counting>) -> LiveGateway {
    let job = Tool::new("job", std::future::pending::<String>).task();
    let gateway = Gateway::new("gateway", "1")
        .mount("shared", Server::new("shared", "1").tool(job))
        .expect("a server")
        .server_per_caller("own", Arc::clone(access) as Arc<_>, UpstreamSettings::new())
        .naming(Naming::Prefixed)
        .secret(&SECRET)
        .configure_server(move |server| server.replicas(stores).secret(&SECRET))
        .open()
        .expect("a gateway");
    listen(gateway.server().clone()).await;
    gateway.settled().await;
    gateway
}

#[tokio::test]
async fn servers_of_a_caller_are_not_opened_where_the_caller_has_no_tasks() {
    let stores = MemoryReplicas::default();
    let (adas_access, access) = (Arc::default(), Arc::default());
    let here = personal(stores.clone(), &adas_access).await;
    let there = personal(stores, &access).await;
    let client = Client::new("front", "1").only(Revision::LATEST_LEGACY);
    let ada = site::join_as(&client, &here, "ada").await;
    assert_eq!(listed(&ada).await, Vec::<Value>::new());
    assert!(adas_access.0.load(Ordering::Relaxed) > 0);
    assert_eq!(access.0.load(Ordering::Relaxed), 0);
    let other = site::join_as(&client, &there, "ada").await;
    let job = json!({ "name": "shared__job", "arguments": {}, "task": {} });
    let created = request(&other, "tools/call", &job).await.expect("a task");
    assert_eq!(listed(&ada).await, [created["task"]["taskId"].clone()]);
    here.close().await;
    there.close().await;
}

/// A replica of a gateway with a mounted server, whose tasks are in a separate store.
async fn mounting(stores: MemoryReplicas, of_server: MemoryReplicas) -> LiveGateway {
    // A call that ends immediately never becomes a task of the server.
    let job = Tool::new("job", async || {
        tokio::time::sleep(Duration::from_millis(300)).await;
        "done"
    });
    let server = Server::new("jobs", "1").tool(job.task());
    let gateway = Gateway::new("gateway", "1")
        .mount("jobs", server.replicas(of_server).secret(&SECRET))
        .expect("a server")
        .naming(Naming::Prefixed)
        .secret(&SECRET)
        .configure_server(move |server| server.replicas(stores).secret(&SECRET))
        .open()
        .expect("a gateway");
    listen(gateway.server().clone()).await;
    gateway.settled().await;
    gateway
}

#[tokio::test]
async fn a_task_that_mounted_servers_share_outlives_its_replica() {
    let (stores, of_server) = (MemoryReplicas::default(), MemoryReplicas::default());
    let here = mounting(stores.clone(), of_server.clone()).await;
    let there = mounting(stores, of_server).await;
    let client = Client::new("front", "1").only(Revision::LATEST_LEGACY);
    let ada = site::join_as(&client, &here, "ada").await;
    let job = json!({ "name": "jobs__job", "arguments": {}, "task": {} });
    let created = request(&ada, "tools/call", &job).await.expect("a task");
    let task = json!({ "taskId": created["task"]["taskId"] });
    let result = request(&ada, "tasks/result", &task).await;
    assert_eq!(result.expect("a result")["content"][0]["text"], "done");
    let (ada, eve) = (
        site::join_as(&client, &there, "ada").await,
        site::join_as(&client, &there, "eve").await,
    );
    let (modern_ada, meta) = (as_caller(&there, "ada").await, call("", &task));
    let mut modern = meta;
    modern["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    for is_here_gone in [false, true] {
        if is_here_gone {
            here.server().shutdown().await;
            here.close().await;
        }
        let known = request(&ada, "tasks/get", &task).await.expect("the task");
        assert_eq!(known["status"], "completed", "{is_here_gone} {known}");
        let result = request(&ada, "tasks/result", &task).await;
        let result = result.expect("a result");
        assert_eq!(result["content"][0]["text"], "done", "{is_here_gone}");
        let known = request(&modern_ada, "tasks/get", &modern).await;
        let known = known.unwrap_or_else(|error| panic!("{is_here_gone} {error}"));
        assert_eq!(known["status"], "completed", "{is_here_gone} {known}");
        let foreign = request(&eve, "tasks/get", &task).await;
        foreign.expect_err("it is of another caller");
    }
    there.close().await;
}
