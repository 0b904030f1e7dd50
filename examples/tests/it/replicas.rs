//! Processes of one server, with a real Redis between them, over real HTTP.

mod chaos;
mod haproxy;
mod limits;
mod sessions;
mod takeover;
mod wire;

use std::{path::Path, process::Stdio, time::Duration};

use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};
use turnbuckle::{
    Answers, Change, Client, Connection, Listen, Revision,
    client::{Started, TaskHandle},
    protocol::{ElicitResult, TaskStatus},
};
use turnbuckle_test_replicas::Balancer;

use crate::program::example;

/// How long any step may take here: far more than it needs.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The secret that all processes share.
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A process of the server, until it is dropped.
struct Replica {
    child: Child,
    /// The URL of its endpoint.
    url: String,
    /// Its host and port.
    host: String,
}

impl Replica {
    async fn start(redis: &str) -> Self {
        Self::start_with(redis, &[]).await
    }

    async fn start_with(redis: &str, variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(example("replicas"))
            .arg("127.0.0.1:0")
            .envs(variables.iter().copied())
            .env("KITCHEN_REDIS", redis)
            .env("KITCHEN_SECRET", SECRET)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the example runs");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let line = tokio::time::timeout(TIMEOUT, lines.next_line()).await;
        let line = line.expect("it starts").expect("it can be read");
        let line = line.expect("it says where it listens");
        let url = line.rsplit(' ').next().expect("a word").to_owned();
        let host = url
            .strip_prefix("http://")
            .and_then(|url| url.strip_suffix("/mcp"));
        let host = host.expect("a URL").to_owned();
        Self { child, url, host }
    }

    /// Asks the process to end, as a service manager does.
    fn terminate(&self) {
        let id = self.child.id().expect("it runs").to_string();
        let sent = std::process::Command::new("kill")
            .args(["-TERM", &id])
            .status();
        assert!(sent.expect("`kill` is there").success());
    }

    async fn connect(&self, revision: Revision) -> Connection {
        let answers =
            Answers::new().on_form(|_| async { Ok(ElicitResult::accept([("taste", "lemon")])) });
        let client = Client::new("test", "1.0.0").answering(answers);
        let connected = client.only(revision).connect(&*self.url).await;
        connected.expect("it answers")
    }
}

async fn redis(folder: &Path) -> (Child, String) {
    let socket = folder.join("redis.sock");
    let mut child = Command::new("redis-server")
        .args(["--port", "0", "--save", "", "--appendonly", "no"])
        .args(["--enable-debug-command", "yes", "--dir"])
        .arg(folder)
        .arg("--unixsocket")
        .arg(&socket)
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("`redis-server` is installed; `./scripts/test redis` installs it");
    let listening = tokio::time::timeout(TIMEOUT, async {
        while tokio::net::UnixStream::connect(&socket).await.is_err() {
            let ended = child.try_wait().expect("it can be waited for");
            assert!(ended.is_none(), "redis-server ended: {ended:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    listening.await.expect("redis-server listens");
    (child, redis_url(folder))
}

fn redis_url(folder: &Path) -> String {
    format!("unix://{}", folder.join("redis.sock").display())
}

/// Some processes, Redis, and a load balancer in front of them.
struct Cluster {
    replicas: Vec<Replica>,
    balancer: Balancer,
    redis: Child,
    folder: tempfile::TempDir,
}

impl Cluster {
    async fn start(count: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (engine, url) = redis(folder.path()).await;
        let mut replicas = Vec::new();
        for _ in 0..count {
            replicas.push(Replica::start(&url).await);
        }
        let hosts = replicas.iter().map(|replica| replica.host.clone());
        Self {
            balancer: Balancer::start(hosts.collect()),
            replicas,
            redis: engine,
            folder,
        }
    }

    fn redis_url(&self) -> String {
        redis_url(self.folder.path())
    }

    async fn stop_redis(&mut self) {
        self.redis.kill().await.expect("it is ended");
    }

    async fn start_redis(&mut self) {
        (self.redis, _) = redis(self.folder.path()).await;
    }

    /// The answer of Redis to a command.
    fn redis_says(&self, words: &[&str]) -> String {
        let socket = self.folder.path().join("redis.sock");
        let mut command = std::process::Command::new("redis-cli");
        let said = command.arg("-s").arg(socket).args(words).output();
        let said = said.expect("`redis-cli` comes with `redis-server`");
        let said = String::from_utf8(said.stdout).expect("UTF-8");
        said.trim().to_owned()
    }

    /// How often Redis executed each command, without the commands by which replicas find each other.
    fn commands(&self) -> Vec<String> {
        let answered = self.redis_says(&["INFO", "commandstats"]);
        let mut answered: Vec<_> = answered.lines().collect();
        answered.retain(|line| {
            let Some(name) = line.strip_prefix("cmdstat_") else {
                return false;
            };
            let name = name.split(':').next().unwrap_or_default();
            ![
                "evalsha",
                "time",
                "zadd",
                "zremrangebyscore",
                "pexpire",
                "zrangebyscore",
                "info",
                "ping",
            ]
            .contains(&name)
        });
        // The number of calls, without their durations.
        let calls = answered
            .iter()
            .map(|line| line.split(',').next().unwrap_or_default());
        calls.map(str::to_owned).collect()
    }
}

async fn begin(client: &Connection, tool: &str) -> TaskHandle {
    match client.call(tool, json!({})).task().await {
        Ok(Started::Task(task)) => task,
        other => panic!("`{tool}` is not a task: {other:?}"),
    }
}

async fn busy(client: &Connection) -> String {
    let read = client.read("kitchen://ovens").fresh().await;
    let read = serde_json::to_value(read.expect("it is read")).expect("it is JSON");
    read["contents"][0]["text"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_one_process_is_answered_cancelled_and_read_on_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_engine, redis) = redis(folder.path()).await;
    let (mut one, other) = (Replica::start(&redis).await, Replica::start(&redis).await);
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let (here, there) = (one.connect(revision).await, other.connect(revision).await);

        // Started here, answered there, and read there; the process where it began runs it.
        let ticket = begin(&here, "cake").await.ticket().clone();
        let mut cake = there.task(ticket.clone());
        let made = tokio::time::timeout(TIMEOUT, cake.result()).await;
        let made = made
            .expect("it is answered")
            .expect("it has a result")
            .text();
        let maker = one.child.id().expect("it runs");
        assert_eq!(made, format!("a cake with lemon, made by {maker}"));
        let again = here.task(ticket).result().await.expect("it is kept").text();
        assert_eq!(again, made);

        // Started here, cancelled there: the work here stops, and both know it.
        let mut changes = there
            .listen(Listen::new().resource("kitchen://ovens"))
            .await;
        let changes = changes.as_mut().expect("it listens");
        let ticket = begin(&here, "bread").await.ticket().clone();
        let heard = tokio::time::timeout(TIMEOUT, async {
            while !matches!(
                changes.next().await,
                Some(Ok(Change::ResourceUpdated { .. }))
            ) {}
        });
        heard.await.expect("what changes here is heard there");
        assert_eq!(
            (busy(&here).await, busy(&there).await),
            ("1".into(), "0".into())
        );
        there
            .task(ticket.clone())
            .cancel()
            .await
            .expect("it is cancelled");
        let status = here
            .task(ticket)
            .status()
            .await
            .expect("it is there")
            .status;
        assert_eq!(status, TaskStatus::Cancelled);
        let stopped = tokio::time::timeout(TIMEOUT, async {
            while busy(&here).await != "0" {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
        stopped.await.expect("the work stops");
    }

    // The result outlives the process that produced it.
    let client = one.connect(Revision::V2026_07_28).await;
    let mut cake = begin(&client, "cake").await;
    let ticket = cake.ticket().clone();
    let made = cake.result().await.expect("it has a result").text();
    one.child.kill().await.expect("it is ended");
    let there = other.connect(Revision::V2026_07_28).await;
    let kept = there
        .task(ticket)
        .result()
        .await
        .expect("it is kept")
        .text();
    assert_eq!(kept, made);
}
