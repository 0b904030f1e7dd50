//! Clients of every revision work while replicas are killed and stopped and Redis is restarted: no
//! answer is lost, duplicated or given to another client, and nothing hangs.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{task::JoinSet, time::sleep};

use super::{
    Cluster, Replica,
    wire::{self, Reading, Session},
};

/// How many clients of each kind there are.
const CLIENTS: usize = 4;

/// The time between two events.
const PAUSE: Duration = Duration::from_secs(2);

/// How long a replica is stopped.
const STOPPED: Duration = Duration::from_secs(3);

/// Statuses that tell a client to try again.
const AGAIN: [u16; 2] = [503, 429];

/// The headers of a call of 2026-07-28.
const MODERN: [(&str, &str); 3] = [
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "order"),
];

/// The results of the clients of one run.
#[derive(Default)]
struct Tally {
    is_over: AtomicBool,
    plain: AtomicU64,
    asked: AtomicU64,
    /// Calls on a killed replica whose clients were told about it.
    told: AtomicU64,
}

/// A client that numbers its requests.
struct Guest {
    name: String,
    address: String,
    tally: Arc<Tally>,
    next: u64,
}

impl Guest {
    fn new(name: String, cluster: &Cluster, tally: &Arc<Tally>) -> Self {
        Self {
            name,
            address: cluster.balancer.address.clone(),
            tally: Arc::clone(tally),
            next: 1,
        }
    }

    /// Works until the run is over, without a session.
    async fn modern(mut self) {
        while !self.tally.is_over.load(Ordering::Relaxed) {
            let number = self.number();
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let params = json!({ "name": "order", "arguments": self.order(number), "_meta": meta });
            let message = request(number, &params).to_string();
            self.insist(None, number, &message).await;
        }
    }

    /// Works until the run is over, in one session: plain calls, and calls that ask.
    async fn legacy(mut self, revision: &'static str) {
        let session = Session::open(&self.address, revision).await;
        while !self.tally.is_over.load(Ordering::Relaxed) {
            let number = self.number();
            let params = json!({ "name": "order", "arguments": self.order(number) });
            let message = request(number, &params).to_string();
            self.insist(Some(&session), number, &message).await;
            if revision >= "2025-06-18" {
                self.tea(&session).await;
            }
        }
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn order(&self, number: u64) -> Value {
        json!({ "number": number, "guest": self.name })
    }

    /// Sends a request without side effects until it is answered, and checks that the answer has its number.
    async fn insist(&self, session: Option<&Session>, number: u64, message: &str) {
        let expected = format!("order {number} for {}", self.name);
        loop {
            let sent = match session {
                Some(session) => session.try_ask(&self.address, "POST", &[], message).await,
                None => wire::try_ask(&self.address, "POST", &MODERN, message).await,
            };
            let Ok(answer) = sent else {
                // The replica died with the request.
                sleep(Duration::from_millis(20)).await;
                continue;
            };
            if AGAIN.contains(&answer.status) {
                sleep(Duration::from_millis(100)).await;
                continue;
            }
            assert_eq!(answer.status, 200, "{expected}");
            let answer = if answer.is_stream() {
                answer_of(answer, number).await
            } else {
                answer.whole().await
            };
            let Some(answer) = answer else { continue };
            assert_eq!(answer["id"], number, "{expected}: {answer}");
            assert_eq!(answer["result"]["content"][0]["text"], expected, "{answer}");
            self.tally.plain.fetch_add(1, Ordering::Relaxed);
            return;
        }
    }

    /// Makes a call that asks whom the tea is for, and answers through any replica. If the call's replica is killed,
    /// the client resumes the stream and gets an error, or the stored events.
    async fn tea(&mut self, session: &Session) {
        let number = self.number();
        let params = json!({ "name": "tea", "arguments": {} });
        let message = request(number, &params).to_string();
        let sent = session.try_ask(&self.address, "POST", &[], &message).await;
        let Ok(mut stream) = sent else { return };
        if stream.status != 200 || !stream.is_stream() {
            return;
        }
        let mut last = String::new();
        let mut is_answered = false;
        loop {
            let Some((id, message)) = stream.message().await else {
                if last.is_empty() {
                    // No event had an id to resume from: the call is lost, and its client knows it.
                    self.tally.told.fetch_add(1, Ordering::Relaxed);
                    return;
                }
                let Some(resumed) = self.resume(session, &last).await else {
                    return;
                };
                stream = resumed;
                continue;
            };
            if !id.is_empty() {
                last = id;
            }
            if message["method"] == "elicitation/create" {
                assert!(!is_answered, "asked twice: {message}");
                is_answered = true;
                self.answer(session, &message["id"]).await;
            } else if message["id"] == number {
                if message.get("error").is_some() {
                    let said = message["error"]["message"].as_str().unwrap_or_default();
                    assert!(said.contains("call again"), "{message}");
                    self.tally.told.fetch_add(1, Ordering::Relaxed);
                } else {
                    let expected = format!("tea for {}", self.name);
                    assert_eq!(message["result"]["content"][0]["text"], expected);
                    self.tally.asked.fetch_add(1, Ordering::Relaxed);
                }
                return;
            }
        }
    }

    async fn answer(&self, session: &Session, question: &Value) {
        let answer = json!({
            "jsonrpc": "2.0", "id": question,
            "result": { "action": "accept", "content": { "name": self.name } },
        });
        let answer = answer.to_string();
        loop {
            match session.try_ask(&self.address, "POST", &[], &answer).await {
                Ok(taken) if taken.status == 202 => return,
                Ok(taken) => assert!(AGAIN.contains(&taken.status), "{}", taken.status),
                Err(_) => {}
            }
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Resumes a stream; `None` if there is nothing to resume, and the client is told so.
    async fn resume(&self, session: &Session, last: &str) -> Option<Reading> {
        let headers = [("accept", "text/event-stream"), ("last-event-id", last)];
        loop {
            match session.try_ask(&self.address, "GET", &headers, "").await {
                Ok(resumed) if resumed.status == 200 => return Some(resumed),
                Ok(refused) if AGAIN.contains(&refused.status) => {}
                Ok(refused) => {
                    assert_eq!(refused.status, 400, "no stream is left");
                    self.tally.told.fetch_add(1, Ordering::Relaxed);
                    return None;
                }
                Err(_) => {}
            }
            sleep(Duration::from_millis(50)).await;
        }
    }
}

fn request(number: u64, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params })
}

/// The answer on a stream; `None` if the stream breaks.
async fn answer_of(mut stream: Reading, number: u64) -> Option<Value> {
    loop {
        let (_, message) = stream.message().await?;
        if message["id"] == number {
            return Some(message);
        }
    }
}

impl Cluster {
    /// Kills a replica and starts another process in its place.
    async fn replace(&mut self, number: usize) {
        self.replicas[number]
            .child
            .kill()
            .await
            .expect("it is killed");
        let replica = Replica::start(&self.redis_url()).await;
        self.balancer.replace(number, replica.host.clone());
        self.replicas[number] = replica;
    }

    fn signal(&self, number: usize, signal: &str) {
        let id = self.replicas[number].child.id().expect("it runs");
        let sent = std::process::Command::new("kill")
            .args([signal, &id.to_string()])
            .status();
        assert!(sent.expect("`kill` is there").success());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_lost_doubled_or_mixed_up_while_replicas_and_redis_fail() {
    let mut cluster = Cluster::start(3).await;
    let tally = Arc::new(Tally::default());
    let mut guests = JoinSet::new();
    for number in 0..CLIENTS {
        let guest = |kind: &str| Guest::new(format!("{kind}-{number}"), &cluster, &tally);
        guests.spawn(guest("modern").modern());
        for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            guests.spawn(guest(revision).legacy(revision));
        }
    }
    sleep(PAUSE).await;
    cluster.replace(0).await;
    sleep(PAUSE).await;
    cluster.signal(1, "-STOP");
    sleep(STOPPED).await;
    cluster.signal(1, "-CONT");
    cluster.redis_says(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    cluster.redis_says(&["CLIENT", "KILL", "TYPE", "normal"]);
    sleep(PAUSE).await;
    cluster.stop_redis().await;
    sleep(PAUSE).await;
    cluster.start_redis().await;
    sleep(PAUSE).await;
    assert_eq!(cluster.redis_says(&["DEBUG", "SLEEP", "1"]), "OK");
    // A rolling upgrade: each ends in order, and a new process takes its place.
    for number in 0..3 {
        let replica = Replica::start(&cluster.redis_url()).await;
        cluster.balancer.replace(number, replica.host.clone());
        let mut old = std::mem::replace(&mut cluster.replicas[number], replica);
        old.terminate();
        let ended = tokio::time::timeout(super::TIMEOUT, old.child.wait()).await;
        ended.expect("it ends in time").expect("it ends");
    }
    sleep(PAUSE).await;
    let before = tally.plain.load(Ordering::Relaxed);
    sleep(PAUSE).await;
    tally.is_over.store(true, Ordering::Relaxed);
    let ended = tokio::time::timeout(super::TIMEOUT, async {
        while let Some(guest) = guests.join_next().await {
            guest.expect("no guest was disappointed");
        }
    });
    ended.await.expect("nothing hangs");
    let [plain, asked, told] =
        [&tally.plain, &tally.asked, &tally.told].map(|count| count.load(Ordering::Relaxed));
    println!("{plain} plain calls, {asked} that asked, {told} of which clients were told");
    assert!(plain > before, "it works at the end");
    assert!(asked > 0);
}
