//! How long it takes after a kill until every client gets answers again.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep, timeout_at},
};

use super::{
    guest::Guest,
    http_sse::Stream,
    listening::Heard,
    tally::{Fault, Kind},
};

/// How long a client may be without an answer: far longer than the docs promise.
const RECOVERED_WITHIN: Duration = Duration::from_secs(30);

/// How soon a client tries again.
const PAUSE: Duration = Duration::from_millis(20);

/// A process that was killed.
pub(super) struct Kill {
    pub(super) at: Instant,
    /// What was killed.
    pub(super) what: &'static str,
}

/// Milliseconds of all clients after one kill.
pub(super) struct Recovery {
    pub(super) what: &'static str,
    pub(super) times: Sorted,
}

/// Sorted times.
pub(super) struct Sorted(Vec<f64>);

impl Sorted {
    pub(super) fn new(mut times: Vec<f64>) -> Self {
        times.sort_unstable_by(f64::total_cmp);
        Self(times)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The time at this quantile, from 0 to 1.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "there are some thousand clients"
    )]
    pub(super) fn quantile(&self, part: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        let at = (last as f64 * part).round() as usize;
        self.0.get(at).copied().unwrap_or(f64::NAN)
    }
}

/// Makes every client call after each kill, until the run ends.
pub(super) async fn watch(
    guests: Vec<Arc<Guest>>,
    mut kills: mpsc::UnboundedReceiver<Kill>,
) -> Vec<Recovery> {
    let mut recoveries = Vec::new();
    while let Some(kill) = kills.recv().await {
        let mut probes = JoinSet::new();
        for guest in &guests {
            probes.spawn(recovered(Arc::clone(guest), kill.at));
        }
        let times = probes.join_all().await;
        recoveries.push(Recovery {
            what: kill.what,
            times: Sorted::new(times.into_iter().flatten().collect()),
        });
    }
    recoveries
}

/// Milliseconds from a kill until a client has an answer to its own call. `None` if it
/// never got one, which is recorded.
async fn recovered(guest: Arc<Guest>, killed: Instant) -> Option<f64> {
    let answered = async {
        // Errors are expected until the client is served again, so they are not counted as faults.
        while !is_answered(&guest).await {
            sleep(PAUSE).await;
        }
    };
    if timeout_at(killed + RECOVERED_WITHIN, answered)
        .await
        .is_err()
    {
        let problem = format!("no answer within {RECOVERED_WITHIN:?} after a kill");
        guest.fault(Fault::Hung, &problem);
        return None;
    }
    Some(killed.elapsed().as_secs_f64() * 1e3)
}

async fn is_answered(guest: &Arc<Guest>) -> bool {
    if guest.place == 0 {
        // The session is the stream: once another stream is open, the client is served again.
        let Ok(stream) = Stream::open(guest, &Heard::new()).await else {
            return false;
        };
        return stream.called(Kind::Call, "order", "").await.is_ok();
    }
    if guest.session().is_none() && !guest.is_modern() {
        return false;
    }
    guest.call_plainly(Kind::Call, "order").await.is_ok()
}
