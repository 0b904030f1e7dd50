//! How a gateway stops: running calls may finish, and then the servers end.

use std::{pin::pin, time::Duration};

use tokio::{sync::oneshot, time};
use turnbuckle::gateway::LiveGateway;
use turnbuckle_command_line::control::tell;

use crate::runtime::stop_signal;

/// How long running calls may take. This is shorter than the time after which connections are cut, so that clients
/// are told that their calls have ended.
const FINISH_WITHIN: Duration = Duration::from_secs(8);

/// After this time, the program says that it waits.
const SAY_AFTER: Duration = Duration::from_millis(300);

/// How long servers may take to end.
pub(super) const CLOSE_WITHIN: Duration = Duration::from_secs(5);

/// Stops a gateway once `stop` is ready: no new requests are accepted, running calls get some time, and then
/// the servers end, with an error for each remaining call. A second signal ends them at once. This future is
/// polled beside the one that serves, which ends when the last client has its answer; it never ends by itself.
pub(super) async fn end(
    gateway: &LiveGateway,
    stop: impl Future<Output = ()>,
    stopped: oneshot::Sender<()>,
) {
    stop.await;
    // Registered now, so that the first signal is not counted as the second.
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
