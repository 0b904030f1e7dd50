//! Mistakes made on purpose. The simulation has to find each of them.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    time::{Instant, sleep_until},
};
use turnbuckle::{
    Caller, Client, LiveServer, Revision, Server, State, Tool, client::Target, tool,
    transport::Duplex,
};
use turnbuckle_server::Bearer;
use turnbuckle_testing::sim::{End, Failure, Faults, Sim, SimulationRun};

use crate::{afternoon, club, ledger::Ledger, member::Member, sockets};

/// The number of seeds within which a mistake must be found.
const SEEDS: u64 = 50;

fn found<F: Future<Output = ()>>(faults: Faults, program: impl Fn(SimulationRun) -> F) -> Failure {
    let sim = Sim::new().seeds(SEEDS).faults(faults);
    let failure = sim
        .clone()
        .find(&program)
        .expect_err("a planted mistake is found");
    // The seed alone is enough to repeat the run.
    assert_eq!(sim.trace(failure.seed, &program), failure.trace);
    *failure
}

/// Asserts that a planted mistake is found by its own check, not because the run leaves tasks behind.
#[track_caller]
fn assert_says(failure: &Failure, what: &str) {
    let is_said = failure
        .problems
        .iter()
        .any(|problem| problem.contains(what));
    assert!(is_said, "{failure}");
    let is_untidy = failure
        .problems
        .iter()
        .any(|problem| problem.contains("tasks still run"));
    assert!(!is_untidy || what.contains("tasks still run"), "{failure}");
}

/// What a faulty wire does to a line of the server: gives the number of times that the line arrives.
type Spoil = Arc<dyn Fn(&Value) -> usize + Send + Sync>;

/// The behavior of a faulty wire.
#[derive(Clone)]
struct FaultyWire {
    spoil: Spoil,
    /// Whether it answers calls that were cancelled.
    answers_cancelled: bool,
}

/// The delay of an answer after a cancellation: by then the handler has been dropped.
const LATE: Duration = Duration::from_secs(1);

/// A pipe to a server with a faulty wire.
fn spoiled(run: &SimulationRun, server: &LiveServer, wire: FaultyWire) -> Target {
    let (near, far) = run.network().pair("spoiled");
    let inside = server.connect_as(Caller::new("ada"));
    tokio::spawn(wire.pass(far, inside));
    Target::from(tokio::io::split(near))
}

impl FaultyWire {
    /// Relays messages until one side ends, then ends the other.
    async fn pass(self, far: End, inside: Duplex) {
        let (from_client, mut to_client) = tokio::io::split(far);
        let mut from_client = BufReader::new(from_client).lines();
        let (mut from_server, mut to_server) =
            (BufReader::new(inside.reader).lines(), inside.writer);
        let mut late: VecDeque<(Instant, Value)> = VecDeque::new();
        loop {
            let due = late.front().map_or_else(Instant::now, |(due, _)| *due);
            tokio::select! {
                biased;
                line = from_client.next_line() => {
                    let Ok(Some(line)) = line else { return };
                    let message: Value = serde_json::from_str(&line).expect("clients write JSON");
                    if self.answers_cancelled && message["method"] == "notifications/cancelled" {
                        let id = message["params"]["requestId"].clone();
                        late.push_back((Instant::now() + LATE, id));
                    }
                    let _ = to_server.write_all(format!("{line}\n").as_bytes()).await;
                }
                line = from_server.next_line() => {
                    let Ok(Some(line)) = line else { return };
                    let message: Value = serde_json::from_str(&line).expect("servers write JSON");
                    for _ in 0..(self.spoil)(&message) {
                        let _ = to_client.write_all(format!("{line}\n").as_bytes()).await;
                    }
                }
                () = sleep_until(due), if !late.is_empty() => {
                    let (_, id) = late.pop_front().expect("one is due");
                    let result = json!({ "content": [] });
                    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                    let _ = to_client.write_all(format!("{answer}\n").as_bytes()).await;
                }
            }
        }
    }
}

/// A server on a pipe, on which each line of the server arrives as often as `spoil` says.
async fn club_with(run: SimulationRun, spoil: impl Fn(&Value) -> usize + Send + Sync + 'static) {
    let wire = FaultyWire {
        spoil: Arc::new(spoil),
        answers_cancelled: false,
    };
    club_behind(run, wire).await;
}

async fn club_behind(run: SimulationRun, wire: FaultyWire) {
    let ledger = Ledger::new(&run);
    let server = club::server(&ledger).build().expect("the club is set up");
    let away = run.clone();
    let member = Member {
        run: run.clone(),
        ledger: ledger.clone(),
        known_as: "ada",
        number: 1,
        revision: Revision::V2025_06_18,
        reach: Arc::new(move || spoiled(&away, &server, wire.clone())),
        is_on_pipe: true,
        is_direct: true,
        place: club::NOTES,
        asked_in: Revision::V2025_06_18,
        runs_once: false,
        may_be_refused: false,
    };
    afternoon::spend(&run, vec![member], async {}).await;
    afternoon::end(&ledger).await;
}

#[test]
fn a_second_answer_is_found() {
    let twice = |message: &Value| {
        if message.get("result").is_some() {
            2
        } else {
            1
        }
    };
    let failure = found(Faults::none(), |run| club_with(run, twice));
    assert_says(&failure, "a second time");
}

#[test]
fn a_lost_question_is_found() {
    let lossy = |message: &Value| usize::from(message["method"] != "elicitation/create");
    let failure = found(Faults::none(), |run| club_with(run, lossy));
    assert_says(&failure, "ask (2025-06-18) fails on a good network");
}

#[test]
fn an_answer_after_a_cancel_is_found() {
    let failure = found(Faults::none(), |run| {
        let wire = FaultyWire {
            spoil: Arc::new(|_| 1),
            answers_cancelled: true,
        };
        club_behind(run, wire)
    });
    assert_says(&failure, "is answered after it was cancelled");
}

#[test]
fn a_call_that_is_never_answered_is_found() {
    let lossy = |message: &Value| {
        let text = &message["result"]["content"][0]["text"];
        let is_of_steps = text.as_str().is_some_and(|text| text.ends_with("done"));
        usize::from(!is_of_steps)
    };
    let failure = found(Faults::none(), |run| club_with(run, lossy));
    assert_says(&failure, "is never answered, and no connection stalled");
}

/// No call waits for the answer of this request, so only the audit can notice that it is missing.
#[test]
fn a_missing_answer_that_no_call_waits_for_is_found() {
    // The first empty result answers `resources/subscribe`, the next one `resources/unsubscribe`.
    let failure = found(Faults::none(), |run| {
        let empty = AtomicUsize::new(0);
        let lossy = move |message: &Value| {
            let result = message["result"].as_object();
            let is_empty = result.is_some_and(serde_json::Map::is_empty);
            usize::from(!is_empty || empty.fetch_add(1, Ordering::Relaxed) == 0)
        };
        club_with(run, lossy)
    });
    assert_says(&failure, "(resources/unsubscribe) is never answered");
}

#[test]
fn what_a_server_holds_for_good_is_found() {
    let failure = found(Faults::none(), async |run: SimulationRun| {
        let ledger = Ledger::new(&run);
        let server = club::server(&ledger).build().expect("the club is set up");
        let machine = run.serve("club", &server);
        let client = Client::new("ada", "1.0.0").deadline(Duration::from_hours(24));
        let connection = client.connect(run.target("club")).await;
        let connection = connection.expect("the network is good");
        let calling = connection.call("wait", json!({ "call": 1 })).into_future();
        let judging = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            afternoon::forgets(&run, &server, None).await;
        };
        tokio::select! {
            _ = calling => {}
            () = judging => {}
        }
        machine.crash();
    });
    assert_says(&failure, "no client is left, and a server holds");
}

/// The most recent caller, which other callers must not learn.
type Last = Arc<Mutex<String>>;

/// Remembers its caller in the wrong place.
#[tool]
async fn who(State(last): State<Last>, #[extract] caller: Caller) -> String {
    let name = caller.id().unwrap_or_default();
    name.clone_into(&mut last.lock().expect("no panic"));
    tokio::time::sleep(Duration::from_millis(5)).await;
    last.lock().expect("no panic").clone()
}

#[test]
fn data_of_another_caller_is_found() {
    let failure = found(Faults::none(), async |run: SimulationRun| {
        let server = Server::new("gossip", "1.0.0")
            .state(Last::default())
            .tool(who);
        let server = server.build().expect("the server is set up");
        let asking = ["ada", "bob"].map(|name| {
            let target = run.pipe(name, &server, Caller::new(name));
            let client = run.audited(Client::new(name, "1.0.0"));
            run.spawn(name, async move {
                let connection = client.connect(target).await.expect("the network is good");
                for _ in 0..5 {
                    let output = connection.call("who", json!({})).await.expect("answered");
                    assert_eq!(output.text(), name, "somebody else is named");
                }
            })
        });
        for asking in asking {
            let _ = asking.await;
        }
    });
    assert_says(&failure, "somebody else is named");
}

/// A guard that accepts every token as the same caller.
fn careless_door() -> Bearer {
    Bearer::new(|_: String| async { Some(Caller::new("somebody")) })
}

#[test]
fn a_session_that_another_caller_can_use_is_found() {
    let failure = found(Faults::none(), |run| {
        sockets::club_behind(run, careless_door, Some("somebody"))
    });
    assert_says(&failure, "eve is given what others own");
}

#[test]
fn work_that_outlives_its_call_is_found() {
    let failure = found(Faults::none(), async |run: SimulationRun| {
        let leaky = Tool::new("leak", async || {
            tokio::spawn(std::future::pending::<()>());
            "done"
        });
        let server = Server::new("leaky", "1.0.0").tool(leaky);
        let server = server.build().expect("the server is set up");
        let client = Client::new("ada", "1.0.0");
        let connection = client
            .connect(run.pipe("leaky", &server, Caller::local()))
            .await;
        let connection = connection.expect("the network is good");
        let _ = connection.call("leak", json!({})).await;
    });
    assert_says(&failure, "1 tasks still run");
}

#[test]
fn a_call_that_never_ends_is_found() {
    let stuck = async |run: SimulationRun| {
        let server = Server::new("stuck", "1.0.0").tool(Tool::new("stuck", async || {
            std::future::pending::<&str>().await
        }));
        let server = server.build().expect("the server is set up");
        let client = Client::new("ada", "1.0.0").deadline(Duration::from_hours(24));
        let connection = client
            .connect(run.pipe("stuck", &server, Caller::local()))
            .await;
        let connection = connection.expect("the network is good");
        let _ = connection.call("stuck", json!({})).await;
    };
    assert_says(&found(Faults::none(), stuck), "did not end within");
}
