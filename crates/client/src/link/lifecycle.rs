//! How far a connection is from its end.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::error::Ending;

/// How far a connection is from its end, and how long that may take.
#[derive(Debug)]
pub(crate) struct Lifecycle {
    stage: watch::Sender<Stage>,
    /// How long its process has at each step of its end.
    grace: Duration,
    /// The same, for those who are in a hurry.
    hurry: watch::Sender<Option<Duration>>,
}

#[derive(Clone, Debug, Default)]
enum Stage {
    #[default]
    Open,
    /// Nothing comes any more, but the server's process may still be there.
    Lost(Arc<Ending>),
    /// All is over.
    Ended(Arc<Ending>),
}

impl Lifecycle {
    pub(super) fn new(grace: Duration) -> Self {
        Self {
            stage: watch::Sender::default(),
            grace,
            hurry: watch::Sender::default(),
        }
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
        match &*self.stage.borrow() {
            Stage::Open => Arc::default(),
            Stage::Lost(ending) | Stage::Ended(ending) => ending.clone(),
        }
    }

    /// Whether all is over.
    pub(super) fn is_ended(&self) -> bool {
        matches!(&*self.stage.borrow(), Stage::Ended(_))
    }

    /// The server will not answer any more.
    pub(super) fn lose(&self, ending: Ending) {
        self.stage.send_replace(Stage::Lost(Arc::new(ending)));
    }

    /// All is over.
    pub(super) fn end(&self, ending: Arc<Ending>) {
        self.stage.send_replace(Stage::Ended(ending));
    }

    /// Waits until all is over.
    pub(crate) async fn ended(&self) -> Arc<Ending> {
        let mut stage = self.stage.subscribe();
        // The sender lives as long as `self`, so that it cannot be gone.
        let _ = stage
            .wait_for(|stage| matches!(stage, Stage::Ended(_)))
            .await;
        self.ending()
    }
}
