//! A whole run: members come and go while the network fails, then everything has to work again.

use std::time::Duration;

use turnbuckle::LiveServer;
use turnbuckle_testing::sim::SimulationRun;

use crate::{ledger::Ledger, member::Member, sockets};

/// How long handlers may run after their clients are gone: as long as a silent connection lasts.
const LONGEST_END: Duration = Duration::from_mins(5);

/// When the last message of a client has been served.
const LAST_MESSAGE: Duration = Duration::from_mins(2);

/// Lets members spend their afternoon; `meanwhile` happens beside. Then the network is well, and all
/// of them are served again.
pub(crate) async fn spend(
    run: &SimulationRun,
    members: Vec<Member>,
    meanwhile: impl Future<Output = ()>,
) {
    come_and_go(run, &members, meanwhile).await;
    recover(run, members).await;
}

/// Lets members come and go while the network fails; `meanwhile` happens beside. Then the network is
/// well.
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

/// Sees to it that all of them are served again.
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

/// Sees to it that a server keeps nothing for clients that are gone. If it is at a URL, its name says where:
/// a session over HTTP whose client left without a word is forgotten when somebody comes after its time.
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

/// Waits until no handler is left over.
pub(crate) async fn end(ledger: &Ledger) {
    ledger.all_ended(LONGEST_END).await;
}
