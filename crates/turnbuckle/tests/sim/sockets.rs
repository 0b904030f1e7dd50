//! A server over HTTP, which crashes and comes back.

use std::{sync::Arc, time::Duration};

use turnbuckle::{Caller, Revision, client::Target};
use turnbuckle_server::Bearer;
use turnbuckle_testing::sim::{Machine, Random, Sim, World};

use crate::{afternoon, club, ledger::Ledger, member::Member};

/// The way to a server for one caller. Clients of 2024-11-05 have two.
pub(crate) fn way(world: &World, server: &str, name: &str, is_old: bool) -> Target {
    let path = if is_old { "sse" } else { "mcp" };
    let target = world.at(format!("http://{server}/{path}"));
    target
        .header("authorization", format!("Bearer {name}"))
        .into()
}

/// Accepts every caller that sends a name.
pub(crate) fn door() -> Bearer {
    Bearer::new(|token: String| async move { Some(Caller::new(token)) })
}

/// Members of every revision at one server.
pub(crate) fn members(world: &World, ledger: &Ledger, random: &mut Random) -> Vec<Member> {
    let members = (0..3).map(|number| {
        let name = club::NAMES[number];
        let revision = *random.pick(Revision::ALL);
        let is_old = revision == Revision::V2024_11_05 && random.chance(600);
        let away = world.clone();
        Member {
            world: world.clone(),
            ledger: ledger.clone(),
            known_as: name,
            number: u32::try_from(number).expect("there are three"),
            revision,
            reach: Arc::new(move || way(&away, "club", name, is_old)),
            is_direct: true,
            place: club::NOTES,
            asked_in: revision,
            runs_once: false,
            may_be_refused: false,
        }
    });
    members.collect()
}

fn start(world: &World, ledger: &Ledger) -> Machine {
    let server = club::server(ledger).build().expect("the club is set up");
    world.serve_at("club", &server, |http| http.protect(door()))
}

pub(crate) async fn club_on_sockets(world: World) {
    let ledger = Ledger::new(&world);
    let mut random = world.random();
    let members = members(&world, &ledger, &mut random);
    let mut machine = Some(start(&world, &ledger));
    let crashes = async {
        for _ in 0..random.below(2) {
            world.pause(Duration::from_secs(10)).await;
            machine.take().inspect(Machine::crash);
            world.pause(Duration::from_secs(2)).await;
            machine = Some(start(&world, &ledger));
        }
    };
    afternoon::spend(&world, members, crashes).await;
    machine.inspect(Machine::crash);
    afternoon::end(&ledger).await;
}

#[test]
fn a_server_over_http_keeps_its_promises() {
    println!("{}", Sim::new().seeds(200).run(club_on_sockets));
}
