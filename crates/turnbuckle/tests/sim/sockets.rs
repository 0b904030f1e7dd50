//! A server over HTTP, which crashes and comes back.

use std::{sync::Arc, time::Duration};

use turnbuckle::{
    Caller, Revision,
    client::{HttpTarget, Target},
    transport::http::ByteStream,
};
use turnbuckle_server::Bearer;
use turnbuckle_testing::sim::{Random, Sim, SimulatedMachine, SimulationRun};

use crate::{
    afternoon, club,
    intruder::{Intruder, SeenRequests, Watched},
    ledger::Ledger,
    member::Member,
};

/// The way to a server for one caller, which an intruder reads. Clients of 2024-11-05 have two.
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
            is_direct: true,
            place: club::NOTES,
            asked_in: revision,
            runs_once: false,
            may_be_refused: false,
        }
    });
    members.collect()
}

fn start(run: &SimulationRun, ledger: &Ledger, door: fn() -> Bearer) -> SimulatedMachine {
    let server = club::server(ledger).build().expect("the club is set up");
    run.serve_at("club", &server, |http| http.protect(door()))
}

pub(crate) async fn club_on_sockets(run: SimulationRun) {
    club_behind(run, door, None).await;
}

/// A server behind a door that may know all callers by the same name.
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
    let mut machine = Some(start(&run, &ledger, door));
    let crashes = async {
        for _ in 0..random.below(2) {
            run.pause(Duration::from_secs(10)).await;
            machine.take().inspect(SimulatedMachine::crash);
            run.pause(Duration::from_secs(2)).await;
            machine = Some(start(&run, &ledger, door));
        }
    };
    afternoon::spend(&run, members, crashes).await;
    intruder.stop().await;
    machine.inspect(SimulatedMachine::crash);
    afternoon::end(&ledger).await;
}

#[test]
fn a_server_over_http_keeps_its_promises() {
    println!("{}", Sim::new().seeds(400).run(club_on_sockets));
}
