//! Finding out which servers a caller has credentials for.
//!
//! The first requests of a caller wait for the answer. A server that no credentials were found for is
//! looked for again by later requests, because an authorization server may have been away. A server whose
//! credentials have changed is looked for again at once, and started with the new ones.

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

/// How long after the beginning of a first look-up requests wait for it. It goes on after that, and the
/// caller is told of changed lists.
const WAIT: Duration = Duration::from_secs(10);

/// A look-up that takes longer is given up, and begun again by a later request.
const ENDS_WITHIN: Duration = Duration::from_mins(1);

/// The shortest time between the beginnings of two look-ups. It doubles with each of them.
const AGAIN: Duration = Duration::from_secs(5);

/// How often that time doubles at most, to a bit more than five minutes.
const MAX_DOUBLINGS: u32 = 6;

/// The look-ups of one caller. They end with it.
#[derive(Default)]
pub(super) struct LookUps(Mutex<HashMap<ServerId, LookUp>>);

struct LookUp {
    began: Instant,
    /// How many there were before this one.
    earlier: u32,
    /// The number of the credentials that it looks for.
    credentials: u64,
    task: JoinHandle<()>,
    /// Closed at the end of the task.
    running: watch::Receiver<()>,
}

/// A look-up that requests wait for.
struct FirstLookUp {
    running: watch::Receiver<()>,
    until: Instant,
}

impl FirstLookUp {
    async fn ended(mut self) {
        // It is never sent to.
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
        // Read before the credentials are: if they change in between, they are looked for again.
        let credentials = server.access.credentials(caller);
        let (server, core, caller) = (Arc::clone(server), Arc::clone(core), caller.clone());
        // The servers are asked at the same time, and an answer counts even if the request is cancelled.
        let task = tokio::spawn(async move {
            match time::timeout(ENDS_WITHIN, server.access.server_for(&caller)).await {
                Ok(Some(spec)) => core.add(&server.id, spec, server.settings.clone()),
                Ok(None) if core.contains(&server.id) => {
                    core.remove(&server.id).await;
                }
                Ok(None) => {}
                Err(_) => {
                    tracing::warn!(server = %server.id, "looking for credentials took too long");
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

    /// False as soon as requests do not wait for it any more.
    fn is_running(&self) -> bool {
        self.running.has_changed().is_ok()
    }

    fn is_due_again(&self) -> bool {
        let pause = AGAIN * (1 << self.earlier.min(MAX_DOUBLINGS));
        !self.is_running() && self.began.elapsed() >= pause
    }

    /// `None` if it has ended, or is not the first one.
    fn first(&self) -> Option<FirstLookUp> {
        let is_first = self.earlier == 0 && self.is_running();
        is_first.then(|| FirstLookUp {
            running: self.running.clone(),
            until: self.began + WAIT,
        })
    }
}

impl LookUps {
    /// Looks for the servers that the caller does not have, or has other credentials for. Waits only for
    /// those that are looked for the first time.
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

    /// Looks for one server whether that is due or not, and waits for it. One that looks for the same
    /// credentials may be under way.
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

    /// Starts look-ups that are due, and returns the first look-ups that still run.
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

    /// Whether the newest credentials for a server were looked for.
    pub(super) fn is_current(&self, server: &PersonalServer, caller: &Caller) -> bool {
        let all = self.0.lock();
        let known = all.get(&server.id);
        known.is_some_and(|known| known.credentials == server.access.credentials(caller))
    }

    /// Whether one is running.
    pub(super) fn is_running(&self) -> bool {
        self.0.lock().values().any(LookUp::is_running)
    }
}
