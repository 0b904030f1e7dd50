//! Finding out which servers a caller has credentials for.
//!
//! The first requests of a caller wait for the answer. A server that no credentials were found for is
//! looked for again by later requests, because an authorization server may have been away.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::watch, task::JoinHandle, time};
use turnbuckle_base::lock::Mutex;
use turnbuckle_host::ServerId;
use turnbuckle_server::Caller;

use super::callers::PersonalServer;
use crate::core::Core;

/// How long a request waits for the first look-ups. They go on after that, and the caller is told of
/// changed lists.
const WAIT: Duration = Duration::from_secs(10);

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
    task: JoinHandle<()>,
    /// Closed at the end of the task.
    running: watch::Receiver<()>,
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
        let (server, core, caller) = (Arc::clone(server), Arc::clone(core), caller.clone());
        // The servers are asked at the same time, and an answer counts even if the request is cancelled.
        let task = tokio::spawn(async move {
            let _ends = ends;
            if let Some(spec) = server.access.way(&caller).await
                && !core.contains(&server.id)
            {
                core.add(&server.id, spec, server.settings.clone());
            }
        });
        Self {
            began: Instant::now(),
            earlier,
            task,
            running,
        }
    }

    fn is_due_again(&self) -> bool {
        let pause = AGAIN * (1 << self.earlier.min(MAX_DOUBLINGS));
        self.task.is_finished() && self.began.elapsed() >= pause
    }
}

impl LookUps {
    /// Looks for the servers that the caller does not have. Waits only for those that are looked for the
    /// first time.
    pub(super) async fn run(
        &self,
        servers: &[Arc<PersonalServer>],
        core: &Arc<Core>,
        caller: &Caller,
    ) {
        let first = self.start(servers, core, caller);
        let all_ended = async {
            for mut running in first {
                // It is never sent to.
                while running.changed().await.is_ok() {}
            }
        };
        let _ = time::timeout(WAIT, all_ended).await;
    }

    /// Starts the look-ups that are due, and returns the first look-ups that still run.
    fn start(
        &self,
        servers: &[Arc<PersonalServer>],
        core: &Arc<Core>,
        caller: &Caller,
    ) -> Vec<watch::Receiver<()>> {
        let mut all = self.0.lock();
        let mut first = Vec::new();
        for server in servers {
            if core.contains(&server.id) || !server.access.can_look_up(caller) {
                continue;
            }
            let known = all.get(&server.id);
            let earlier = match known {
                None => Some(0),
                Some(known) => known.is_due_again().then(|| known.earlier + 1),
            };
            if let Some(earlier) = earlier {
                let started = LookUp::start(server, core, caller, earlier);
                all.insert(server.id.clone(), started);
            }
            let known = &all[&server.id];
            if known.earlier == 0 && !known.task.is_finished() {
                first.push(known.running.clone());
            }
        }
        first
    }

    /// Whether one is running.
    pub(super) fn is_running(&self) -> bool {
        self.0.lock().values().any(|one| !one.task.is_finished())
    }

    /// Lets the next request look for a server at once.
    pub(super) fn forget(&self, server: &ServerId) {
        self.0.lock().remove(server);
    }
}
