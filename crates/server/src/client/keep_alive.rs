//! Pings the client of a session at an interval.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll};

use turnbuckle_protocol::RequestParams;
use turnbuckle_transport::KeepAlive;

use super::peer::Peer;

/// Whether the client can be reached now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The client reads what the server sends.
    Listening,
    /// The client has no open stream at the moment, which is allowed.
    #[cfg(feature = "http")]
    Away,
    /// The session has ended.
    #[cfg(feature = "http")]
    Over,
}

/// Pings the client of a session until the session ends. Returns `true` if the client has failed,
/// because it did not answer too many pings in a row.
///
/// ping: implementations SHOULD ping periodically, MAY consider a connection failed if there is no
/// answer, and SHOULD log ping failures.
pub(crate) async fn has_failed(
    peer: Arc<Peer>,
    pings: KeepAlive,
    reach: impl Fn() -> Reach,
) -> bool {
    let mut failures = 0;
    loop {
        if is_over(&peer, pings).await {
            return false;
        }
        match reach() {
            #[cfg(feature = "http")]
            Reach::Over => return false,
            #[cfg(feature = "http")]
            Reach::Away => {
                failures = 0;
                continue;
            }
            Reach::Listening => {}
        }
        let params = RequestParams::default();
        let ping = peer.ask("ping", &params);
        match tokio::time::timeout(pings.timeout, ping).await {
            // Any answer shows that the client runs, even an error.
            Ok(Some(_)) => failures = 0,
            Ok(None) => return false,
            Err(_) => {
                failures += 1;
                let session = peer.session_id();
                tracing::warn!(session, failures, "a ping was not answered");
                if failures >= pings.failures {
                    return true;
                }
            }
        }
    }
}

/// Waits until the next ping is due. Returns `true` if the session ends before that.
async fn is_over(peer: &Peer, pings: KeepAlive) -> bool {
    let mut due = pin!(tokio::time::sleep(pings.every));
    let mut closed = pin!(peer.outbox().closed());
    poll_fn(|context| {
        if closed.as_mut().poll(context).is_ready() {
            return Poll::Ready(true);
        }
        due.as_mut().poll(context).map(|()| false)
    })
    .await
}
