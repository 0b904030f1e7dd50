//! A server over HTTP, which crashes and comes back.

use std::{sync::Arc, time::Duration};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use turnbuckle::{
    Caller, LiveServer, Revision,
    client::{HttpTarget, Target},
    transport::http::ByteStream,
};
use turnbuckle_server::{Bearer, HttpSettings};
use turnbuckle_testing::sim::{Faults, Random, Sim, SimulatedMachine, SimulationRun};

use crate::{
    afternoon, club,
    intruder::{Intruder, SeenRequests, Watched},
    ledger::Ledger,
    member::Member,
};

/// A caller's connection to a server, which an intruder reads. `is_old` selects HTTP+SSE.
pub(crate) fn way(run: &SimulationRun, seen: &SeenRequests, name: &str, is_old: bool) -> Target {
    let path = if is_old { "sse" } else { "mcp" };
    let (away, seen) = (run.clone(), seen.clone());
    HttpTarget::new(format!("http://club/{path}"))
        .header("authorization", format!("Bearer {name}"))
        .dial_with(move |host, _| {
            let (run, seen) = (away.clone(), seen.clone());
            async move {
                let end = run.network().dial(&host).await?;
                Ok(ByteStream::new(Watched::new(end, &seen)))
            }
        })
        .into()
}

/// Accepts every caller that sends a name.
pub(crate) fn door() -> Bearer {
    Bearer::new(|token: String| async move { Some(Caller::new(token)) })
}

/// Members of every revision at one server.
pub(crate) fn members(
    run: &SimulationRun,
    ledger: &Ledger,
    random: &mut Random,
    seen: &SeenRequests,
) -> Vec<Member> {
    let members = (0..3).map(|number| {
        let name = club::NAMES[number];
        let revision = *random.pick(Revision::ALL);
        let is_old = revision == Revision::V2024_11_05 && random.chance(600);
        let (away, seen) = (run.clone(), seen.clone());
        Member {
            run: run.clone(),
            ledger: ledger.clone(),
            known_as: name,
            number: u32::try_from(number).expect("there are three"),
            revision,
            reach: Arc::new(move || way(&away, &seen, name, is_old)),
            is_on_pipe: false,
            is_direct: true,
            place: club::NOTES,
            asked_in: revision,
            runs_once: false,
            may_be_refused: false,
        }
    });
    members.collect()
}

/// A server, and the machine that it runs on.
struct Running {
    server: LiveServer,
    machine: SimulatedMachine,
}

fn start(run: &SimulationRun, ledger: &Ledger, door: fn() -> Bearer) -> Running {
    let server = club::server(ledger).build().expect("the club is set up");
    let machine = run.serve_at("club", &server, |http| {
        http.settings(settings()).protect(door())
    });
    Running { server, machine }
}

/// When a server removes an unused session: earlier than by default, to keep runs short.
pub(crate) const SESSION_IDLE: Duration = Duration::from_mins(20);

/// How long a request on a good network may take.
const VISIT: Duration = Duration::from_secs(30);

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// The settings of servers over HTTP.
pub(crate) fn settings() -> HttpSettings {
    let mut settings = HttpSettings::default();
    settings.session_idle = SESSION_IDLE;
    settings
}

/// Makes a request with a session that does not exist, and leaves nothing behind. The server then looks for
/// expired sessions.
pub(crate) async fn visit(run: &SimulationRun, server: &str) {
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {server}\r\nauthorization: Bearer dan\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-session-id: none\r\nmcp-protocol-version: 2025-06-18\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{PING}",
        PING.len()
    );
    let mut answer = Vec::new();
    let visiting = async {
        let mut end = run.network().dial(server).await?;
        end.write_all(request.as_bytes()).await?;
        end.read_to_end(&mut answer).await
    };
    let visited = tokio::time::timeout(VISIT, visiting).await;
    let answer = String::from_utf8_lossy(&answer);
    if !answer.starts_with("HTTP/1.1 404") {
        run.problem(format_args!(
            "a visitor of {server} got `{answer}` ({visited:?})"
        ));
    }
}

pub(crate) async fn club_on_sockets(run: SimulationRun) {
    club_behind(run, door, None).await;
}

/// A server behind a guard that may give all callers the same name.
pub(crate) async fn club_behind(
    run: SimulationRun,
    door: fn() -> Bearer,
    known_as: Option<&'static str>,
) {
    let ledger = Ledger::new(&run);
    let mut random = run.random();
    let seen = SeenRequests::default();
    let mut members = members(&run, &ledger, &mut random, &seen);
    for member in &mut members {
        member.known_as = known_as.unwrap_or(member.known_as);
    }
    let intruder = Intruder::start(&run, &seen, &["club"]);
    let mut running = Some(start(&run, &ledger, door));
    let crashes = async {
        for _ in 0..random.below(2) {
            run.pause(Duration::from_secs(10)).await;
            running.take().inspect(|running| running.machine.crash());
            run.pause(Duration::from_secs(2)).await;
            running = Some(start(&run, &ledger, door));
        }
    };
    afternoon::spend(&run, members, crashes).await;
    intruder.stop().await;
    let running = running.expect("it runs in the end");
    afternoon::forgets(&run, &running.server, Some("club")).await;
    running.machine.crash();
    drop(running);
    afternoon::end(&ledger).await;
}

#[test]
fn a_server_over_http_keeps_its_promises() {
    println!("{}", Sim::new().seeds(400).run(club_on_sockets));
}

#[test]
fn a_call_over_http_that_is_cut_at_most_is_answered_or_lost_with_its_connection() {
    let faults = Faults::default().with_half_open(0).with_slow_readers(0);
    println!(
        "{}",
        Sim::new().seeds(100).faults(faults).run(club_on_sockets)
    );
}
