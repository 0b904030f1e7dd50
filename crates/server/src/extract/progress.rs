//! Progress of a call, reported to whoever asked for it.

use std::sync::{Arc, Mutex, PoisonError};

use turnbuckle_protocol::{Id, Lower, ProgressNotificationParams, ProgressToken, Revision};
use turnbuckle_session::progress::Monotonic;

use super::Extract;
use crate::{Call, Failure, cancel::CancelFlag, peer::Peer};

/// Reports progress to a caller that asked for it; costs nothing where nobody did.
///
/// ```
/// # use turnbuckle_server::Progress;
/// async fn build(progress: Progress) {
///     for step in 1..=3 {
///         progress.of(f64::from(step), 3.0).say("compiling").await;
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Progress(Option<Arc<Wanted>>);

struct Wanted {
    peer: Arc<Peer>,
    token: Id,
    call: CancelFlag,
    revision: Revision,
    last: Mutex<Monotonic>,
}

impl Progress {
    /// Whether the caller asked for progress.
    pub fn is_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Reports how far the work is, in any unit.
    pub async fn at(&self, progress: f64) {
        self.report(progress, None, None).await;
    }

    /// How far the work is, of how much in all. Send it with [`Step::say`] or [`Step::send`].
    pub fn of(&self, progress: f64, total: f64) -> Step<'_> {
        Step {
            reporter: self,
            progress,
            total: Some(total),
        }
    }

    /// Reports progress; waits while the peer does not read.
    ///
    /// A value that does not exceed the last one is not sent: the protocol wants progress to grow.
    pub async fn report(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        // progress: notifications MUST stop after completion, also those of work that outlives it.
        let Some(wanted) = self.0.as_ref().filter(|wanted| wanted.call.is_open()) else {
            return;
        };
        let grows = wanted
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .admit(progress);
        if !grows {
            return;
        }
        let mut params = ProgressNotificationParams {
            progress_token: ProgressToken(wanted.token.clone()),
            progress,
            total,
            message,
            meta: None,
        };
        params.lower(wanted.revision);
        wanted.peer.notify("notifications/progress", &params).await;
    }
}

/// One report on its way.
pub struct Step<'a> {
    reporter: &'a Progress,
    progress: f64,
    total: Option<f64>,
}

impl Step<'_> {
    /// Sends it with a line for the user.
    pub async fn say(self, message: impl Into<String>) {
        self.reporter
            .report(self.progress, self.total, Some(message.into()))
            .await;
    }

    /// Sends it.
    pub async fn send(self) {
        self.reporter.report(self.progress, self.total, None).await;
    }
}

impl Extract for Progress {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let token = call
            .request_meta()
            .token()
            .map(turnbuckle_protocol::IdRef::into_owned);
        Ok(Self(token.map(|token| {
            Arc::new(Wanted {
                peer: Arc::clone(&call.peer),
                token,
                call: call.cancel.get_or_init(CancelFlag::default).clone(),
                revision: call.revision,
                last: Mutex::default(),
            })
        })))
    }
}
