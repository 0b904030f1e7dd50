//! Limits of callers that replicas count together in a real Redis.

use std::{path::Path, process::Command, time::Duration};

use serde_json::json;
use turnbuckle::{
    Caller, Client, Connection, LiveServer, Rates, Server, Tool, store::redis::Redis,
    transport::Rate,
};

use super::{SECRET, TIMEOUT, redis};

/// How many calls a caller may make at once.
const CALLS: u32 = 40;

async fn replica(url: &str) -> LiveServer {
    let redis = Redis::open(url).await.expect("Redis is there");
    let rates = Rates::default().with_tool_calls(Rate::new(CALLS, 1));
    let server = Server::new("counted", "1.0.0")
        .tool(Tool::new("now", async || "now"))
        .rates(rates)
        .replicas(redis)
        .secret(SECRET.as_bytes())
        .build()
        .expect("a server");
    server.ready().await;
    server
}

async fn connect(server: &LiveServer, who: &str) -> Connection {
    let client = Client::new("test", "1.0.0");
    let connected = client.connect(server.connect_as(Caller::new(who))).await;
    connected.expect("it answers")
}

/// How many of this many calls, at two replicas in turn, are accepted. Now and then the test waits for Redis:
/// calls that arrive while Redis is asked are not counted yet.
async fn let_in(clients: &[Connection; 2], calls: u32, folder: &Path) -> u32 {
    let mut count = 0;
    for (number, client) in clients.iter().cycle().take(calls as usize).enumerate() {
        if number % 4 == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
            draws(folder);
        }
        match client.call("now", json!({})).await {
            Ok(_) => count += 1,
            Err(error) => assert!(error.to_string().contains("rate limit"), "{error}"),
        }
    }
    count
}

/// How often Redis got commands about rates.
fn draws(folder: &Path) -> String {
    let mut command = Command::new("redis-cli");
    command.arg("-s").arg(folder.join("redis.sock"));
    let said = command.args(["INFO", "commandstats"]).output();
    let said = said.expect("`redis-cli` comes with `redis-server`");
    let said = String::from_utf8(said.stdout).expect("UTF-8");
    // No other script reads a plain key.
    let gets = said.lines().find(|line| line.starts_with("cmdstat_get:"));
    let calls = gets.and_then(|line| line.split(',').next());
    calls.unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_counts_for_all_replicas_and_costs_nothing_below_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut engine, url) = redis(folder.path()).await;
    let (one, other) = (replica(&url).await, replica(&url).await);
    let clients = async |who: &str| [connect(&one, who).await, connect(&other, who).await];
    // Starts when the replicas know how many they are.
    let quiet = tokio::time::timeout(TIMEOUT, async {
        for number in 0.. {
            let caller = clients(&format!("caller {number}")).await;
            let before = draws(folder.path());
            assert_eq!(let_in(&caller, CALLS / 4, folder.path()).await, CALLS / 4);
            if draws(folder.path()) == before {
                return;
            }
        }
    });
    quiet.await.expect("no command for plain calls");
    let ada = clients("ada").await;
    let before = draws(folder.path());
    let begun = std::time::Instant::now();
    let count = let_in(&ada, 4 * CALLS, folder.path()).await;
    assert!(count >= CALLS, "a caller gets its limit: {count}");
    // Two calls become available in each second, in case the machine is slow.
    let more = 15 + 2 * u32::try_from(begun.elapsed().as_secs()).expect("a short time");
    assert!(count <= CALLS * 3 / 2 + more, "and little more: {count}");
    assert_ne!(draws(folder.path()), before);
    // While Redis is unreachable, no caller is refused, and limits still apply.
    engine.kill().await.expect("it is ended");
    let count = let_in(&clients("bob").await, 4 * CALLS, folder.path()).await;
    assert!(count >= CALLS, "{count}");
    assert!(count <= 3 * CALLS + 30, "{count}");
}
