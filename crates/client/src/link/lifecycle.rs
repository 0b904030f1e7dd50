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

/// The stage of a connection, and the time limit for closing it.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    stage: Mutex<Stage>,
    /// Wakes the futures that wait for the end, in the order in which they began to wait. A watch
    /// channel would wake them in any order, which a simulation cannot replay.
    at_end: Notify,
    /// The time limit for each step of ending the server's process.
    grace: Duration,
    /// A shorter limit, if the application requested one.
    hurry: watch::Sender<Option<Duration>>,
    /// Whether the session at the server is kept when the connection ends.
    keeps_session: AtomicBool,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Open,
    /// The server sends nothing any more, but its process may still run.
    Lost(Arc<Ending>),
    /// The connection has ended completely.
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

    /// Keeps the session at the server when the connection ends.
    pub(crate) fn keep_session(&self) {
        self.keeps_session.store(true, Ordering::Relaxed);
    }

    /// Whether the session is kept.
    #[cfg(feature = "http")]
    pub(crate) fn keeps_session(&self) -> bool {
        self.keeps_session.load(Ordering::Relaxed)
    }

    /// Sets the time limit for each step of ending the server's process, from now on.
    pub(crate) fn hurry(&self, grace: Duration) {
        self.hurry.send_replace(Some(grace));
    }

    /// The time limit for each step of ending the server's process.
    pub(super) fn grace(&self) -> Duration {
        self.hurry.borrow().unwrap_or(self.grace)
    }

    /// Completes when the application has asked for a quick end.
    pub(super) async fn hurried(&self) {
        let mut hurry = self.hurry.subscribe();
        // This never fails, because the sender is a field of this struct.
        let _ = hurry.wait_for(Option::is_some).await;
    }

    /// How the connection ended, as far as that is known yet.
    pub(super) fn ending(&self) -> Arc<Ending> {
        match &*self.stage.lock() {
            Stage::Open => Arc::default(),
            Stage::Lost(ending) | Stage::Ended(ending) => ending.clone(),
        }
    }

    /// Whether the connection has ended completely.
    pub(super) fn is_ended(&self) -> bool {
        matches!(&*self.stage.lock(), Stage::Ended(_))
    }

    /// Records that the server will not answer any more.
    pub(super) fn lose(&self, ending: Ending) {
        *self.stage.lock() = Stage::Lost(Arc::new(ending));
    }

    /// Records that the connection has ended completely.
    pub(super) fn end(&self, ending: Arc<Ending>) {
        *self.stage.lock() = Stage::Ended(ending);
        self.at_end.notify_waiters();
    }

    /// Waits until the connection has ended completely.
    pub(crate) async fn ended(&self) -> Arc<Ending> {
        let mut ended = pin!(self.at_end.notified());
        // From here on the end is noticed, whether it comes before or after the check of the stage.
        ended.as_mut().enable();
        if !self.is_ended() {
            ended.await;
        }
        self.ending()
    }
}
