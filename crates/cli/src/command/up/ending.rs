//! How a gateway ends that was asked to: calls that run may finish, and then their servers end.

use std::{pin::pin, time::Duration};

use tokio::{sync::oneshot, time};
use turnbuckle::gateway::LiveGateway;
use turnbuckle_command_line::control::tell;

use crate::runtime::stop_signal;

/// How long calls may go on. It is shorter than the time after which connections are cut, so that clients
/// are told that their calls have ended.
const FINISH_WITHIN: Duration = Duration::from_secs(8);

/// After this time there is something to wait for, which is then said.
const SAY_AFTER: Duration = Duration::from_millis(300);

/// How long servers have to end.
pub(super) const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// Ends a gateway once `stop` is there: no new requests are accepted, running calls have some time, and then
/// the servers end, with an error for each call that is left. A second signal ends them at once. It is
/// polled beside the serving, which ends when the last client was answered, and does not end by itself.
pub(super) async fn end(
    gateway: &LiveGateway,
    stop: impl Future<Output = ()>,
    stopped: oneshot::Sender<()>,
) {
    stop.await;
    // Heard from now on, so that the first signal is not taken for the second.
    let mut again = pin!(stop_signal());
    let _ = stopped.send(());
    let finish = async {
        time::sleep(SAY_AFTER).await;
        tell(&format!(
            "stopping: running calls have {} s to finish; Ctrl-C again ends them now",
            FINISH_WITHIN.as_secs()
        ));
        time::sleep(FINISH_WITHIN).await;
    };
    tokio::select! {
        () = finish => {}
        () = &mut again => {}
    }
    let _ = time::timeout(CLOSE_WITHIN, gateway.close()).await;
    std::future::pending::<()>().await;
}
