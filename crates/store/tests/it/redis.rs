//! Tests the stores in Redis with a real Redis.

mod cluster;
mod replica;
mod sentinel;
mod task_restart;
mod tls;
mod unreadable;

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant, UNIX_EPOCH},
};

use serde_json::value::to_raw_value;
use tokio::sync::mpsc;
use turnbuckle_protocol::ErrorObject;
use turnbuckle_store::{
    Change, Fanout as _, JoinGuard, StateClaim, StateUse, UsedStates as _,
    bus::{Bus as _, Delivery, NodeId, Recipient},
    contract,
    redis::{Redis, RedisBus, RedisFanout, TASK_BYTES_PER_OWNER, TASKS_PER_OWNER},
    session::{SessionChange, Sessions as _},
    task::{Changed, NewTask, TaskChange, TaskEnd, TaskKey, Tasks as _, TasksError},
};

/// How long Redis may take for anything here: far longer than it needs.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A private Redis process, which ends when this is dropped.
struct Engine {
    child: Child,
    folder: tempfile::TempDir,
}

impl Engine {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let child = Self::run(folder.path());
        Self { child, folder }
    }

    fn run(folder: &Path) -> Child {
        let socket = folder.join("redis.sock");
        let mut child = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--dir"])
            .arg(folder)
            .arg("--unixsocket")
            .arg(&socket)
            .stdout(Stdio::null())
            .spawn()
            .expect("`redis-server` is installed; `./scripts/test redis` installs it");
        let begun = Instant::now();
        while std::os::unix::net::UnixStream::connect(&socket).is_err() {
            let ended = child.try_wait().unwrap();
            assert!(ended.is_none(), "redis-server ended: {ended:?}");
            assert!(begun.elapsed() < TIMEOUT, "redis-server does not listen");
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }

    fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn start_again(&mut self) {
        self.child = Self::run(self.folder.path());
    }

    async fn open(&self) -> Redis {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        self.open_as(&format!("test{number}:")).await
    }

    async fn open_as(&self, prefix: &str) -> Redis {
        let url = format!("unix://{}/redis.sock", self.folder.path().display());
        Redis::open(&url).await.unwrap().prefix(prefix)
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
    }
}

fn new(owner: &str, id: &str, ttl: Option<Duration>) -> NewTask {
    NewTask {
        key: TaskKey::new(owner, id),
        ttl,
        poll_interval: None,
        payer: None,
        restart: None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn redis_keeps_the_contract_of_limits() {
    let engine = Engine::start();
    contract::limits(&engine.open().await.limits()).await;
    // Every key must have a time to live.
    for key in redis_cli(&engine, &["KEYS", "*"]).lines() {
        let left: i64 = redis_cli(&engine, &["PTTL", key])
            .trim()
            .parse()
            .expect("a number");
        assert!(left > 0, "{key}: {left}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn redis_keeps_the_contract_of_tasks() {
    let engine = Engine::start();
    contract::tasks(async || engine.open().await.tasks()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn redis_keeps_the_contract_of_spent_states() {
    let engine = Engine::start();
    contract::used_states(async || engine.open().await.used_states()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn redis_keeps_the_contract_of_the_bus() {
    let engine = Engine::start();
    contract::bus(async || engine.open_as("bus:").await.bus()).await;
}

#[tokio::test]
async fn redis_keeps_the_contract_of_notes_of_sessions() {
    let engine = Engine::start();
    contract::sessions(async || engine.open().await.sessions()).await;
}

#[tokio::test]
async fn redis_keeps_the_contract_of_logs_of_events() {
    let engine = Engine::start();
    contract::events(async || engine.open().await.events()).await;
}

/// Joins a node whose inbox is a channel.
fn node(bus: &RedisBus, node: NodeId) -> (JoinGuard, mpsc::UnboundedReceiver<Vec<u8>>) {
    let (take, taken) = mpsc::unbounded_channel();
    let inbox = move |message| drop(take.send(message));
    (bus.join(node, Arc::new(inbox)), taken)
}

#[tokio::test]
async fn the_bus_heals_when_redis_is_started_again() {
    let mut engine = Engine::start();
    let (one, other) = (
        engine.open_as("b:").await.bus(),
        engine.open_as("b:").await.bus(),
    );
    let (here, there) = (NodeId::new(1), NodeId::new(2));
    let _here = node(&one, here);
    let (_there, mut taken) = node(&other, there);
    other.ready(there).await;
    let to = Recipient::Node(there);
    assert_eq!(one.send(to, b"a".to_vec()).await.unwrap(), Delivery::Sent);
    assert_eq!(taken.recv().await.unwrap(), b"a");
    engine.stop();
    assert!(one.send(to, b"lost".to_vec()).await.is_err());
    assert!(!one.is_gone(there), "it is unknown");
    engine.start_again();
    let healed = tokio::time::timeout(TIMEOUT, async {
        while !matches!(one.send(to, b"b".to_vec()).await, Ok(Delivery::Sent)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(taken.recv().await.unwrap(), b"b");
    });
    healed.await.expect("messages arrive again");
    assert!(!one.is_gone(there));
}

#[tokio::test]
async fn a_node_whose_connection_breaks_is_deaf_and_not_gone() {
    let engine = Engine::start();
    let (one, other) = (
        engine.open_as("b:").await.bus(),
        engine.open_as("b:").await.bus(),
    );
    let (here, there) = (NodeId::new(1), NodeId::new(2));
    let _here = node(&one, here);
    let (_there, mut taken) = node(&other, there);
    other.ready(there).await;
    let to = Recipient::Node(there);
    // Until the first node has seen the second.
    while one.send(to, b"a".to_vec()).await.unwrap() != Delivery::Sent {}
    tokio::time::timeout(TIMEOUT, async {
        loop {
            redis_cli(&engine, &["CLIENT", "KILL", "TYPE", "pubsub"]);
            match one.send(to, b"b".to_vec()).await.unwrap() {
                Delivery::Deaf => return,
                // Either the channel was already open again, or the first look is still to come.
                Delivery::Sent | Delivery::NoSuchNode => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    })
    .await
    .expect("it is told apart from one that is gone");
    let healed = tokio::time::timeout(TIMEOUT, async {
        while one.send(to, b"c".to_vec()).await.unwrap() != Delivery::Sent {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        while taken.recv().await.unwrap() != b"c" {}
    });
    healed.await.expect("it listens again");
}

#[tokio::test]
async fn every_key_of_the_bus_and_of_sessions_expires() {
    let engine = Engine::start();
    let redis = engine.open_as("ttl:").await;
    let (bus, sessions) = (redis.bus(), redis.sessions());
    let one = NodeId::new(1);
    let (_joined, mut taken) = node(&bus, one);
    bus.ready(one).await;
    let large = vec![7; 1024 * 1024];
    bus.send(Recipient::Node(one), large.clone()).await.unwrap();
    assert_eq!(taken.recv().await.unwrap(), large);
    let day = Duration::from_hours(24);
    for change in [
        SessionChange::LogLevel("info".into()),
        SessionChange::Subscribe("r://1".into()),
    ] {
        assert!(sessions.write("a", change, day).await.unwrap());
    }
    assert!(sessions.write("b", SessionChange::End, day).await.unwrap());
    sessions.keep_handshake("a", vec![1], day).await.unwrap();
    let keys = redis_cli(&engine, &["KEYS", "*"]);
    let keys: Vec<_> = keys.lines().collect();
    assert!(keys.len() >= 4, "{keys:?}");
    for key in keys {
        let left: i64 = redis_cli(&engine, &["TTL", key]).trim().parse().unwrap();
        assert!(left > 0, "{key} is kept for ever");
    }
}

#[tokio::test]
async fn a_task_is_one_for_all_who_share_it() {
    let engine = Engine::start();
    let (one, other) = (engine.open_as("yard:").await, engine.open_as("yard:").await);
    let (one, other) = (Arc::new(one.tasks()), other.tasks());
    let key = TaskKey::new("ada", "t1");
    one.create(new("ada", "t1", None), UNIX_EPOCH)
        .await
        .unwrap();
    let waiting = tokio::spawn({
        let (one, key) = (Arc::clone(&one), key.clone());
        async move { one.changed(&key, 1).await }
    });
    let said = TaskChange::Say("half done".into());
    other.change(&key, said, UNIX_EPOCH).await.unwrap();
    let told = tokio::time::timeout(TIMEOUT, waiting).await;
    told.expect("it is told").unwrap().unwrap();
    let found = one.get(&key, UNIX_EPOCH).await.unwrap().unwrap();
    assert_eq!(found.task.status_message.as_deref(), Some("half done"));
    let apart = engine.open_as("elsewhere:").await.tasks();
    assert!(apart.get(&key, UNIX_EPOCH).await.unwrap().is_none());
}

#[tokio::test]
async fn one_owner_has_only_so_many_and_those_over_their_time_do_not_count() {
    let engine = Engine::start();
    let store = engine.open().await.tasks();
    let short = Some(Duration::from_secs(1));
    for number in 0..TASKS_PER_OWNER {
        let task = new("ada", &format!("t{number}"), short);
        store.create(task, UNIX_EPOCH).await.unwrap();
    }
    let refused = store.create(new("ada", "more", short), UNIX_EPOCH).await;
    assert!(
        matches!(refused, Err(TasksError::OwnerFull { .. })),
        "{refused:?}"
    );
    let keys = redis_cli(&engine, &["DBSIZE"]);
    let expected = 2 * TASKS_PER_OWNER + 1;
    assert_eq!(keys.trim(), expected.to_string(), "nothing is left of it");
    let other = store.create(new("bob", "his", short), UNIX_EPOCH).await;
    assert!(other.is_ok(), "{other:?}");
    let later = UNIX_EPOCH + Duration::from_secs(1);
    let begun = store.create(new("ada", "more", short), later).await;
    assert!(begun.is_ok(), "{begun:?}");
}

#[tokio::test]
async fn the_tasks_of_one_owner_take_only_so_many_bytes() {
    let engine = Engine::start();
    let store = engine.open().await.tasks();
    let completed = |length: usize| {
        TaskChange::End(TaskEnd::Completed {
            result: to_raw_value(&"x".repeat(length)).unwrap(),
            is_error: false,
            message: None,
        })
    };
    let end = async |owner: &str, id: &str, change| {
        store
            .create(new(owner, id, None), UNIX_EPOCH)
            .await
            .unwrap();
        let key = TaskKey::new(owner, id);
        store.change(&key, change, UNIX_EPOCH).await
    };
    let half = TASK_BYTES_PER_OWNER / 2;
    end("ada", "1", completed(half)).await.unwrap();
    let refused = end("ada", "2", completed(half)).await;
    let is_refused = matches!(refused, Err(TasksError::TooLarge { bytes }) if bytes > half);
    assert!(is_refused, "{refused:?}");
    // The task then ends with an error, and other owners have their own bytes.
    let error = ErrorObject::internal("too large");
    let ended = TaskChange::End(TaskEnd::Failed(error));
    let key = TaskKey::new("ada", "2");
    let changed = store.change(&key, ended, UNIX_EPOCH).await;
    assert!(matches!(changed, Ok(Changed::Now(_))), "{changed:?}");
    end("bob", "3", completed(half)).await.unwrap();
}

fn listen(fanout: &RedisFanout) -> (JoinGuard, mpsc::UnboundedReceiver<Change>) {
    let (tell, told) = mpsc::unbounded_channel();
    let joined = fanout.join(Box::new(move |change| {
        let _ = tell.send(change.clone());
    }));
    (joined, told)
}

async fn hears(told: &mut mpsc::UnboundedReceiver<Change>, wanted: &Change) {
    let heard = tokio::time::timeout(TIMEOUT, async {
        while told.recv().await.as_ref() != Some(wanted) {}
    });
    heard
        .await
        .unwrap_or_else(|_| panic!("no message said {wanted:?}"));
}

#[tokio::test]
async fn changes_reach_every_replica_and_a_break_is_made_good() {
    let mut engine = Engine::start();
    let (one, other) = (engine.open_as("a:").await, engine.open_as("a:").await);
    let (one, other) = (one.fanout(), other.fanout());
    let (_here, mut here) = listen(&one);
    let (_there, mut there) = listen(&other);
    // Both are connected when they report that they may have missed something.
    hears(&mut here, &Change::Everything).await;
    hears(&mut there, &Change::Everything).await;
    let change = Change::Resource("r://it".into());
    one.publish(change.clone());
    hears(&mut here, &change).await;
    hears(&mut there, &change).await;

    engine.stop();
    one.publish(Change::Tools);
    engine.start_again();
    hears(&mut here, &Change::Everything).await;
    hears(&mut there, &Change::Everything).await;
}

/// Makes Redis close all connections for commands, as it does with idle ones.
fn close_connections(engine: &Engine) {
    redis_cli(engine, &["CLIENT", "KILL", "TYPE", "normal"]);
}

/// The answer of Redis to a command.
fn redis_cli(engine: &Engine, command: &[&str]) -> String {
    let answered = Command::new("redis-cli")
        .arg("-s")
        .arg(engine.folder.path().join("redis.sock"))
        .args(command)
        .output();
    let answered = answered.expect("`redis-cli` comes with `redis-server`");
    assert!(answered.status.success(), "{answered:?}");
    String::from_utf8(answered.stdout).unwrap()
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_is_nobodys_trouble() {
    let engine = Engine::start();
    let redis = engine.open().await;
    let (tasks, used_states, fanout) = (redis.tasks(), redis.used_states(), redis.fanout());
    let (_joined, mut told) = listen(&fanout);
    hears(&mut told, &Change::Everything).await;
    let key = TaskKey::new("ada", "t1");
    close_connections(&engine);
    tasks
        .create(new("ada", "t1", None), UNIX_EPOCH)
        .await
        .unwrap();
    close_connections(&engine);
    assert!(tasks.get(&key, UNIX_EPOCH).await.unwrap().is_some());
    close_connections(&engine);
    let said = TaskChange::Say("half done".into());
    tasks.change(&key, said, UNIX_EPOCH).await.unwrap();
    close_connections(&engine);
    let page = tasks.list("ada", None, 5, UNIX_EPOCH).await.unwrap();
    assert_eq!(page.tasks.len(), 1);
    close_connections(&engine);
    let used = StateUse::new(b"one", 7, 10, 0);
    assert_eq!(used_states.claim(used).await.unwrap(), StateClaim::FirstUse);
    close_connections(&engine);
    assert_eq!(
        used_states.claim(used).await.unwrap(),
        StateClaim::AlreadyUsed
    );
    close_connections(&engine);
    fanout.publish(Change::Prompts);
    hears(&mut told, &Change::Prompts).await;
}

#[tokio::test]
async fn nobody_at_the_address_is_an_error_that_says_so() {
    let refused = Redis::open("unix:///nowhere/redis.sock").await.unwrap_err();
    assert!(refused.to_string().contains("`redis`"), "{refused}");
    assert!(Redis::open("no address").await.is_err());
}
