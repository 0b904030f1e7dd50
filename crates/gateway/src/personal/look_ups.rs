//! Looks up which servers a caller has credentials for.
//!
//! The first requests of a caller wait for the look-up. A server without credentials is looked up
//! again by later requests, because an authorization server may have been unreachable. A server
//! whose credentials have changed is looked up again immediately, and started with the new ones.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{self, Instant},
};
use turnbuckle_base::lock::Mutex;
use turnbuckle_host::ServerId;
use turnbuckle_server::Caller;

use super::callers::PersonalServer;
use crate::core::Core;

/// How long requests wait for a first look-up, counted from its beginning. The look-up continues
/// afterwards, and clients of the caller are then notified of changed lists.
const WAIT: Duration = Duration::from_secs(10);

/// A look-up that takes longer is aborted, and started again by a later request.
const ENDS_WITHIN: Duration = Duration::from_mins(1);

/// The shortest time between the beginnings of two look-ups. It doubles with each of them.
const AGAIN: Duration = Duration::from_secs(5);

/// How many times it doubles at most, to a little more than five minutes.
const MAX_DOUBLINGS: u32 = 6;

/// The look-ups of one caller. They are aborted when this is dropped.
#[derive(Default)]
pub(super) struct LookUps(Mutex<HashMap<ServerId, LookUp>>);

struct LookUp {
    began: Instant,
    /// How many look-ups there were before this one.
    earlier: u32,
    /// The number of the credentials that it looks up.
    credentials: u64,
    task: JoinHandle<()>,
    /// Closed when the task ends.
    running: watch::Receiver<()>,
}

/// A first look-up, which requests wait for.
struct FirstLookUp {
    running: watch::Receiver<()>,
    until: Instant,
}

impl FirstLookUp {
    async fn ended(mut self) {
        // No value is ever sent; the channel is closed at the end.
        let ended = async { while self.running.changed().await.is_ok() {} };
        let _ = time::timeout_at(self.until, ended).await;
    }
}

impl Drop for LookUp {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LookUp {
    fn start(
        server: &Arc<PersonalServer>,
        core: &Arc<Core>,
        caller: &Caller,
        earlier: u32,
    ) -> Self {
        let (ends, running) = watch::channel(());
        // Read the number before the credentials: if they change in between, they are looked up again.
        let credentials = server.access.credentials(caller);
        let (server, core, caller) = (Arc::clone(server), Arc::clone(core), caller.clone());
        // In a task, so that servers are looked up concurrently, and the result is used even if the
        // request is cancelled.
        let task = tokio::spawn(async move {
            match time::timeout(ENDS_WITHIN, server.access.server_for(&caller)).await {
                Ok(Some(spec)) => core.add(&server.id, spec, server.settings.clone()),
                Ok(None) if core.contains(&server.id) => {
                    core.remove(&server.id).await;
                }
                Ok(None) => {}
                Err(_) => {
                    tracing::warn!(server = %server.id, "looking up credentials took too long");
                }
            }
            drop(ends);
        });
        Self {
            began: Instant::now(),
            earlier,
            credentials,
            task,
            running,
        }
    }

    /// Whether the look-up is still running. False as soon as requests no longer wait for it.
    fn is_running(&self) -> bool {
        self.running.has_changed().is_ok()
    }

    fn is_due_again(&self) -> bool {
        let pause = AGAIN * (1 << self.earlier.min(MAX_DOUBLINGS));
        !self.is_running() && self.began.elapsed() >= pause
    }

    /// Returns `None` if the look-up has ended, or is not the first one.
    fn first(&self) -> Option<FirstLookUp> {
        let is_first = self.earlier == 0 && self.is_running();
        is_first.then(|| FirstLookUp {
            running: self.running.clone(),
            until: self.began + WAIT,
        })
    }
}

impl LookUps {
    /// Looks up the servers that the caller does not have, or whose credentials have changed. Waits
    /// only for first look-ups.
    pub(super) async fn run(
        &self,
        servers: &[Arc<PersonalServer>],
        core: &Arc<Core>,
        caller: &Caller,
    ) {
        for first in self.start(servers, core, caller) {
            first.ended().await;
        }
    }

    /// Looks up one server immediately, and waits for the result. Joins a running look-up for the
    /// same credentials.
    pub(super) async fn run_now(
        &self,
        server: &Arc<PersonalServer>,
        core: &Arc<Core>,
        caller: &Caller,
    ) {
        let first = {
            let mut all = self.0.lock();
            let known = all.get(&server.id).filter(|known| {
                known.credentials == server.access.credentials(caller) && known.first().is_some()
            });
            if known.is_none() {
                let started = LookUp::start(server, core, caller, 0);
                all.insert(server.id.clone(), started);
            }
            all[&server.id].first()
        };
        if let Some(first) = first {
            first.ended().await;
        }
    }

    /// Starts the look-ups that are due, and returns the first look-ups that are still running.
    fn start(
        &self,
        servers: &[Arc<PersonalServer>],
        core: &Arc<Core>,
        caller: &Caller,
    ) -> Vec<FirstLookUp> {
        let mut all = self.0.lock();
        let mut first = Vec::new();
        for server in servers {
            if !server.access.can_look_up(caller) {
                continue;
            }
            let earlier = match all.get(&server.id) {
                None => Some(0),
                Some(known) if known.credentials != server.access.credentials(caller) => Some(0),
                Some(_) if core.contains(&server.id) => None,
                Some(known) => known.is_due_again().then(|| known.earlier + 1),
            };
            if let Some(earlier) = earlier {
                let started = LookUp::start(server, core, caller, earlier);
                all.insert(server.id.clone(), started);
            }
            first.extend(all[&server.id].first());
        }
        first
    }

    /// Whether the newest credentials for a server were looked up.
    pub(super) fn is_current(&self, server: &PersonalServer, caller: &Caller) -> bool {
        let all = self.0.lock();
        let known = all.get(&server.id);
        known.is_some_and(|known| known.credentials == server.access.credentials(caller))
    }

    /// Whether any look-up is running.
    pub(super) fn is_running(&self) -> bool {
        self.0.lock().values().any(LookUp::is_running)
    }
}
