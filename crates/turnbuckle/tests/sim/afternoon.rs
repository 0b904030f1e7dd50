//! A whole run: members connect and leave while the network fails, then everything has to work again.

use std::time::Duration;

use turnbuckle::LiveServer;
use turnbuckle_testing::sim::SimulationRun;

use crate::{ledger::Ledger, member::Member, sockets};

/// How long handlers may run after their clients have left: as long as a silent connection lasts.
const LONGEST_END: Duration = Duration::from_mins(5);

/// How long after the start of recovery the last message of a client may be served.
const LAST_MESSAGE: Duration = Duration::from_mins(2);

/// Runs the members on a failing network, with `meanwhile` beside them. Then the network recovers, and every
/// member must be served again.
pub(crate) async fn spend(
    run: &SimulationRun,
    members: Vec<Member>,
    meanwhile: impl Future<Output = ()>,
) {
    come_and_go(run, &members, meanwhile).await;
    recover(run, members).await;
}

/// Lets members connect and leave while the network fails, with `meanwhile` beside them. Then the network
/// recovers.
pub(crate) async fn come_and_go(
    run: &SimulationRun,
    members: &[Member],
    meanwhile: impl Future<Output = ()>,
) {
    let coming: Vec<_> = members
        .iter()
        .map(|member| {
            let member = member.clone();
            let name = format!("member {}", member.number);
            run.spawn(&name, async move { member.spend_an_afternoon().await })
        })
        .collect();
    meanwhile.await;
    for member in coming {
        let _ = member.await;
    }
    run.network().calm();
}

/// Checks that every member is served again.
pub(crate) async fn recover(run: &SimulationRun, members: Vec<Member>) {
    let recovering: Vec<_> = members
        .into_iter()
        .map(|member| {
            let name = format!("member {}", member.number);
            run.spawn(&name, async move { member.recover().await })
        })
        .collect();
    for member in recovering {
        let _ = member.await;
    }
}

/// Checks that a server keeps nothing for clients that have left. If it is at a URL, `at` is its name: an HTTP
/// session whose client left without ending it is removed by the first request after it expired.
pub(crate) async fn forgets(run: &SimulationRun, server: &LiveServer, at: Option<&str>) {
    if let Some(name) = at {
        tokio::time::sleep(sockets::SESSION_IDLE + LAST_MESSAGE).await;
        sockets::visit(run, name).await;
    }
    let last = tokio::time::Instant::now() + LONGEST_END;
    while !server.memory_usage().is_zero() {
        if tokio::time::Instant::now() > last {
            let usage = server.memory_usage();
            return run.problem(format_args!(
                "no client is left, and a server holds {usage}"
            ));
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

/// Waits until every handler has ended.
pub(crate) async fn end(ledger: &Ledger) {
    ledger.all_ended(LONGEST_END).await;
}
