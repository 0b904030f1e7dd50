//! The state of a connection: open, closing or closed.

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::{Notify, watch};
use turnbuckle_base::lock::Mutex;

use crate::error::Ending;

/// How far a connection is from its end, and how long that may take.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    stage: Mutex<Stage>,
    /// Wakes those who wait for the end, in the order in which they came: a watch channel would wake
    /// them in any order, which a simulation cannot replay.
    at_end: Notify,
    /// How long its process has at each step of its end.
    grace: Duration,
    /// The same, for those who are in a hurry.
    hurry: watch::Sender<Option<Duration>>,
    /// Whether the session at the server goes on when the connection ends.
    keeps_session: AtomicBool,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Open,
    /// The server sends nothing any more, but its process may still run.
    Lost(Arc<Ending>),
    /// All is over.
    Ended(Arc<Ending>),
}

impl Lifecycle {
    pub(super) fn new(grace: Duration) -> Self {
        Self {
            stage: Mutex::default(),
            at_end: Notify::new(),
            grace,
            hurry: watch::Sender::default(),
            keeps_session: AtomicBool::new(false),
        }
    }

    /// Leaves the session at the server as it is when the connection ends.
    pub(crate) fn keep_session(&self) {
        self.keeps_session.store(true, Ordering::Relaxed);
    }

    /// Whether the session is left as it is.
    #[cfg(feature = "http")]
    pub(crate) fn keeps_session(&self) -> bool {
        self.keeps_session.load(Ordering::Relaxed)
    }

    /// Gives the server's process this long at each step of its end, from now on.
    pub(crate) fn hurry(&self, grace: Duration) {
        self.hurry.send_replace(Some(grace));
    }

    /// How long the server's process has at each step of its end.
    pub(super) fn grace(&self) -> Duration {
        self.hurry.borrow().unwrap_or(self.grace)
    }

    /// Ready when the server is to be ended soon.
    pub(super) async fn hurried(&self) {
        let mut hurry = self.hurry.subscribe();
        // The sender is ours, so that it cannot be gone.
        let _ = hurry.wait_for(Option::is_some).await;
    }

    /// How it ended, as far as that is known.
    pub(super) fn ending(&self) -> Arc<Ending> {
        match &*self.stage.lock() {
            Stage::Open => Arc::default(),
            Stage::Lost(ending) | Stage::Ended(ending) => ending.clone(),
        }
    }

    /// Whether all is over.
    pub(super) fn is_ended(&self) -> bool {
        matches!(&*self.stage.lock(), Stage::Ended(_))
    }

    /// The server will not answer any more.
    pub(super) fn lose(&self, ending: Ending) {
        *self.stage.lock() = Stage::Lost(Arc::new(ending));
    }

    /// All is over.
    pub(super) fn end(&self, ending: Arc<Ending>) {
        *self.stage.lock() = Stage::Ended(ending);
        self.at_end.notify_waiters();
    }

    /// Waits until all is over.
    pub(crate) async fn ended(&self) -> Arc<Ending> {
        let mut ended = pin!(self.at_end.notified());
        // From here on the end is noticed, whether it comes before or after the look at the stage.
        ended.as_mut().enable();
        if !self.is_ended() {
            ended.await;
        }
        self.ending()
    }
}
