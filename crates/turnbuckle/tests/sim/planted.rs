//! Mistakes made on purpose. The simulation has to find each of them.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use turnbuckle::{Caller, Client, LiveServer, Revision, Server, State, Tool, client::Target, tool};
use turnbuckle_server::Bearer;
use turnbuckle_testing::sim::{Failure, Faults, Sim, SimulationRun};

use crate::{afternoon, club, ledger::Ledger, member::Member, sockets};

/// Seeds within which a mistake has to show.
const SEEDS: u64 = 50;

fn found<F: Future<Output = ()>>(faults: Faults, program: impl Fn(SimulationRun) -> F) -> Failure {
    let sim = Sim::new().seeds(SEEDS).faults(faults);
    let failure = sim
        .clone()
        .find(&program)
        .expect_err("a planted mistake is found");
    // The seed alone is enough to see it again.
    assert_eq!(sim.trace(failure.seed, &program), failure.trace);
    *failure
}

#[track_caller]
fn assert_says(failure: &Failure, what: &str) {
    let is_said = failure
        .problems
        .iter()
        .any(|problem| problem.contains(what));
    assert!(is_said, "{failure}");
}

/// What a faulty wire does to a line of the server.
type Spoil = fn(&Value, u64) -> usize;

/// A pipe to a server on which each line of the server arrives as often as `spoil` says.
fn spoiled(run: &SimulationRun, server: &LiveServer, spoil: Spoil) -> Target {
    let (near, far) = run.network().pair("spoiled");
    let inside = server.connect_as(Caller::new("ada"));
    let (from_client, mut to_client) = tokio::io::split(far);
    let mut to_server = inside.writer;
    tokio::spawn(async move {
        let mut lines = BufReader::new(from_client).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let _ = to_server.write_all(format!("{line}\n").as_bytes()).await;
        }
    });
    tokio::spawn(async move {
        let (mut lines, mut count) = (BufReader::new(inside.reader).lines(), 0);
        while let Ok(Some(line)) = lines.next_line().await {
            count += 1;
            let message: Value = serde_json::from_str(&line).expect("servers write JSON");
            for _ in 0..spoil(&message, count) {
                let _ = to_client.write_all(format!("{line}\n").as_bytes()).await;
            }
        }
    });
    Target::from(tokio::io::split(near))
}

async fn club_with(run: SimulationRun, spoil: Spoil) {
    let ledger = Ledger::new(&run);
    let server = club::server(&ledger).build().expect("the club is set up");
    let away = run.clone();
    let member = Member {
        run: run.clone(),
        ledger: ledger.clone(),
        known_as: "ada",
        number: 1,
        revision: Revision::V2025_06_18,
        reach: Arc::new(move || spoiled(&away, &server, spoil)),
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
    let twice: Spoil = |message, _| {
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
    let lossy: Spoil = |message, _| usize::from(message["method"] != "elicitation/create");
    let failure = found(Faults::none(), |run| club_with(run, lossy));
    assert_says(&failure, "ask (2025-06-18) fails on a good network");
}

/// The last caller, which other callers must not learn.
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

/// A door that takes every token for that of the same caller.
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
    assert_says(&failure, "1 tasks go on");
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
