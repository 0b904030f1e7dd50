//! Two replicas that share their stores; each loses its power in the middle of a step, and comes back.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::watch;
use turnbuckle::{Revision, client::HttpTarget, transport::http::ByteStream};
use turnbuckle_store::{MemoryReplicas, ReplicaStores};
use turnbuckle_testing::sim::{Faults, Random, Sim, SimulationRun};

use crate::{
    afternoon, club,
    intruder::{Intruder, SeenRequests, Watched},
    ledger::Ledger,
    member::Member,
    shared_stores::{self, Power},
    sockets,
};

const REPLICAS: [&str; 2] = ["one", "other"];

/// How long a replica may be down after its power has failed.
const LONGEST_START: Duration = Duration::from_secs(2);

/// Runs a replica, and starts it again whenever its power fails.
async fn keep_running(
    run: SimulationRun,
    name: &'static str,
    stores: ReplicaStores,
    ledger: Ledger,
    may_fail: Arc<AtomicBool>,
    mut stop: watch::Receiver<bool>,
) {
    while !*stop.borrow() {
        let power = Power::new(&run, &may_fail);
        let server = club::server(&ledger)
            .replicas(shared_stores::seen_by(&power, &stores))
            .build()
            .expect("the club is set up");
        let machine = run.serve_at(name, &server, |http| {
            http.settings(sockets::settings()).protect(sockets::door())
        });
        tokio::select! {
            biased;
            () = power.failed() => {}
            _ = stop.changed() => {
                afternoon::forgets(&run, &server, Some(name)).await;
            }
        }
        machine.crash();
        drop(server);
        run.pause(LONGEST_START).await;
    }
}

/// A client that a load balancer sends to either replica.
fn balanced(run: &SimulationRun, seen: &SeenRequests, name: &str) -> HttpTarget {
    let (away, seen) = (run.clone(), seen.clone());
    HttpTarget::new("http://club/mcp")
        .header("authorization", format!("Bearer {name}"))
        .dial_with(move |_, _| {
            let (run, seen) = (away.clone(), seen.clone());
            async move {
                let replica = run.random().pick(&REPLICAS).to_owned();
                let end = run.network().dial(replica).await?;
                Ok(ByteStream::new(Watched::new(end, &seen)))
            }
        })
}

/// Members of every revision, each of whose connections leads to either replica.
fn members(
    run: &SimulationRun,
    ledger: &Ledger,
    random: &mut Random,
    seen: &SeenRequests,
) -> Vec<Member> {
    let members = (0..3).map(|number| {
        let name = club::NAMES[number];
        let (away, seen) = (run.clone(), seen.clone());
        let revision = *random.pick(Revision::ALL);
        Member {
            run: run.clone(),
            ledger: ledger.clone(),
            known_as: name,
            number: u32::try_from(number).expect("there are three"),
            revision,
            reach: Arc::new(move || balanced(&away, &seen, name).into()),
            is_on_pipe: false,
            is_direct: false,
            place: club::NOTES,
            asked_in: revision,
            runs_once: false,
            may_be_refused: false,
        }
    });
    members.collect()
}

pub(crate) async fn club_of_replicas(run: SimulationRun) {
    let ledger = Ledger::new(&run);
    let mut random = run.random();
    let stores = ReplicaStores::from(MemoryReplicas::default());
    let may_fail = Arc::new(AtomicBool::new(true));
    let (stop, stopping) = watch::channel(false);
    let running = REPLICAS.map(|name| {
        let run = keep_running(
            run.clone(),
            name,
            stores.clone(),
            ledger.clone(),
            Arc::clone(&may_fail),
            stopping.clone(),
        );
        tokio::spawn(run)
    });
    let seen = SeenRequests::default();
    let members = members(&run, &ledger, &mut random, &seen);
    let intruder = Intruder::start(&run, &seen, &REPLICAS);
    let meanwhile = async {
        tokio::time::sleep(Duration::from_secs(20)).await;
        may_fail.store(false, Ordering::Relaxed);
        // A replica whose power failed last is still down.
        tokio::time::sleep(LONGEST_START * 2).await;
    };
    afternoon::spend(&run, members, meanwhile).await;
    intruder.stop().await;
    let _ = stop.send(true);
    for replica in running {
        replica.await.expect("replicas do not panic");
    }
    drop(stores);
    afternoon::end(&ledger).await;
}

#[test]
fn replicas_that_crash_keep_the_promises_of_one_server() {
    println!("{}", Sim::new().seeds(300).run(club_of_replicas));
}

/// A client subscribes to a resource at one replica, listens at another, and changes the resource at once. The change
/// must be reported although messages between replicas are late.
#[test]
fn a_change_right_after_subscribing_is_heard_at_every_replica() {
    let report = Sim::new()
        .seeds(40)
        .faults(Faults::none())
        .run(async |run: SimulationRun| {
            let ledger = Ledger::new(&run);
            let mut random = run.random();
            let stores = ReplicaStores::from(MemoryReplicas::default());
            let never = Arc::new(AtomicBool::new(false));
            let replicas = REPLICAS.map(|name| {
                let power = Power::new(&run, &never);
                let server = club::server(&ledger)
                    .replicas(shared_stores::seen_by(&power, &stores))
                    .build()
                    .expect("the club is set up");
                run.serve_at(name, &server, |http| {
                    http.settings(sockets::settings()).protect(sockets::door())
                })
            });
            for mut member in members(&run, &ledger, &mut random, &SeenRequests::default()) {
                member.revision = *random.pick(&[
                    Revision::V2025_03_26,
                    Revision::V2025_06_18,
                    Revision::V2025_11_25,
                ]);
                member.asked_in = member.revision;
                member.recover().await;
            }
            for replica in replicas {
                replica.crash();
            }
        });
    println!("{report}");
}
