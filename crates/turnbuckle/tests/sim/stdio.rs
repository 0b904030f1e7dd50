//! A server on pipes, like one on stdio.

use std::sync::Arc;

use turnbuckle::{Caller, Revision};
use turnbuckle_testing::sim::{Faults, Sim, SimulationRun};

use crate::{afternoon, club, ledger::Ledger, member::Member};

/// Members of every revision, each on its own pipe.
pub(crate) async fn club_on_pipes(run: SimulationRun) {
    let ledger = Ledger::new(&run);
    let server = club::server(&ledger).build().expect("the club is set up");
    let mut random = run.random();
    let members = (0..3).map(|number| {
        let name = club::NAMES[number];
        let (away, server) = (run.clone(), server.clone());
        let revision = *random.pick(Revision::ALL);
        Member {
            run: run.clone(),
            ledger: ledger.clone(),
            known_as: name,
            number: u32::try_from(number).expect("there are three"),
            revision,
            reach: Arc::new(move || away.pipe(name, &server, Caller::new(name))),
            is_on_pipe: true,
            is_direct: true,
            place: club::NOTES,
            asked_in: revision,
            runs_once: false,
            may_be_refused: false,
        }
    });
    let members = members.collect();
    afternoon::spend(&run, members, async {}).await;
    afternoon::forgets(&run, &server, None).await;
    drop(server);
    afternoon::end(&ledger).await;
}

#[test]
fn a_server_on_pipes_keeps_its_promises() {
    println!("{}", Sim::new().seeds(1600).run(club_on_pipes));
}

#[test]
fn a_call_on_a_pipe_that_is_cut_at_most_is_answered_or_lost_with_it() {
    let faults = Faults::default().with_half_open(0).with_slow_readers(0);
    println!(
        "{}",
        Sim::new().seeds(200).faults(faults).run(club_on_pipes)
    );
}
