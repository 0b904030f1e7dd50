//! The gateway as one caller sees it: the shared servers, and the caller's own.

use std::{
    any::Any,
    sync::{Arc, OnceLock, Weak, atomic::Ordering},
};

use tokio::sync::futures::Notified;
use turnbuckle_host::{Pacing, ServerId, ServerState, shared::Fleet};
use turnbuckle_server::{Caller, Changes};

use super::{Core, CoreHooks};
use crate::{lock::Lock, routes::Kind, settings::Naming, upstream::Member};

impl Core {
    /// Makes the core for one caller. It has no servers yet; [`share`](Self::share) adds those that
    /// all callers share.
    pub(crate) fn for_caller(&self, caller: &Caller, pacing: Pacing) -> Arc<Self> {
        let core = Arc::new_cyclic(|own: &Weak<Self>| {
            let heard = Weak::clone(own);
            let common = self.common.for_caller(Arc::new(move |server, news| {
                if let Some(core) = heard.upgrade() {
                    core.tell(server, news);
                }
            }));
            let only = |changes: &Changes| OnceLock::from(changes.of_caller(caller));
            let naming = match self.naming {
                // Names must not change when a caller signs in.
                Naming::Auto => Naming::Prefixed,
                other => other,
            };
            // Changes of this caller's servers must not be reported to other callers.
            let changes = self.changes.get().map(only).unwrap_or_default();
            let context = Arc::clone(&self.context);
            let mut core = Self::empty(context, common, naming, Arc::new(changes));
            core.lock = self.lock.get().map(of_own_servers).unwrap_or_default();
            core.recorder.clone_from(&self.recorder);
            core
        });
        let hooks = Arc::new(CoreHooks(Arc::downgrade(&core)));
        let _ = core.fleet.set(Fleet::new(hooks, pacing, None));
        core
    }

    /// A number that changes whenever the servers or their lists change.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Waits until the lists are merged again after this call, because servers became ready or changed.
    pub(crate) fn rerouted(&self) -> Notified<'_> {
        self.rerouted.notified()
    }

    /// Replaces the shared servers; the caller's own servers stay.
    pub(crate) fn share(&self, mut shared: Vec<Arc<Member>>) {
        {
            let plans = self.plans.read();
            let mut members = self.members.write();
            let own = members
                .iter()
                .filter(|member| plans.contains_key(&member.id));
            shared.extend(own.cloned());
            *members = shared;
        }
        self.reroute();
    }

    /// Sets the value that open subscriptions hold, so that the caller is not forgotten.
    pub(crate) fn set_keeper(&self, keeper: Weak<dyn Any + Send + Sync>) {
        let _ = self.keeper.set(keeper);
    }

    /// Whether the caller has this server, in whatever state.
    pub(crate) fn contains(&self, id: &ServerId) -> bool {
        self.member(id).is_some()
    }

    /// Whether a server lists a tool that is offered under this name.
    pub(crate) fn lists_tool(&self, name: &str) -> bool {
        self.routes().find(Kind::Tools, name).is_some()
    }

    /// Whether the caller has this server, and it has not failed.
    pub(crate) fn has(&self, id: &ServerId) -> bool {
        let member = self.member(id);
        member.is_some_and(|member| {
            let state = member.upstream.state();
            !matches!(
                state,
                ServerState::Failed { .. } | ServerState::Restarting { .. }
            )
        })
    }

    /// Waits until a server is ready or has failed.
    pub(crate) async fn settled_one(&self, id: &ServerId) {
        if let Some(member) = self.member(id) {
            member.upstream.settled().await;
        }
    }

    /// Notifies clients that all lists may have changed.
    pub(crate) fn announce_lists(&self) {
        if let Some(changes) = self.changes.get() {
            changes.tools();
            changes.prompts();
            changes.resources();
        }
    }

    /// Notifies clients that a resource may have changed.
    pub(crate) fn tell_changed(&self, uri: &str) {
        if let Some(changes) = self.changes.get() {
            changes.resource(uri);
        }
    }

    /// Why one of the caller's own servers is not ready.
    pub(crate) fn failure(&self, id: &ServerId) -> Option<String> {
        let state = self.member(id)?.upstream.state();
        state.failure().map(|failure| failure.reason.clone())
    }
}

fn of_own_servers(lock: &Lock) -> OnceLock<Lock> {
    OnceLock::from(lock.for_caller_core())
}
