//! A whole run: members come and go while the network fails, then everything has to work again.

use std::time::Duration;

use turnbuckle_testing::sim::SimulationRun;

use crate::{ledger::Ledger, member::Member};

/// How long handlers may run after their clients are gone: as long as a silent connection lasts.
const LONGEST_END: Duration = Duration::from_mins(5);

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

/// Waits until no handler is left over.
pub(crate) async fn end(ledger: &Ledger) {
    ledger.all_ended(LONGEST_END).await;
}
