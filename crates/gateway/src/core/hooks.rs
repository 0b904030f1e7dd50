//! Handles the events of the fleet.

use std::sync::{Arc, Weak};

use futures_core::future::BoxFuture;
use turnbuckle_client::{Change, Client, Connection, Target};
use turnbuckle_host::{
    ServerFailure, ServerId, ServerState,
    shared::{FleetHooks, MissedUpdates, Upstream},
};

use super::{Core, list_news::ChangedList};
use crate::{gateways::GatewayId, observe::Recorder};

/// Connects the fleet to the core.
pub(crate) struct CoreHooks(pub(crate) Weak<Core>);

impl FleetHooks for CoreHooks {
    fn prepare<'a>(
        &'a self,
        server: &'a Arc<Upstream>,
    ) -> BoxFuture<'a, Result<(Client, Target), ServerFailure>> {
        Box::pin(async move {
            let core = self.0.upgrade();
            let plan = core.and_then(|core| core.plans.read().get(server.id()).cloned());
            let Some(plan) = plan else {
                // The server was just removed, and its supervisor is about to end.
                return std::future::pending().await;
            };
            Ok((plan.client(), plan.target()?))
        })
    }

    fn admit(&self, server: &Upstream, connection: &Connection) -> Result<(), ServerFailure> {
        let Some(core) = self.0.upgrade() else {
            return Ok(());
        };
        let id = connection.server().capabilities().and_then(GatewayId::of);
        if id.as_ref() == Some(&core.common.gateway) {
            return Err(ServerFailure::misconfigured(
                "it is this gateway itself; remove it from the servers",
            ));
        }
        if let Some(plan) = core.plans.read().get(server.id()) {
            plan.peer.set(id);
        }
        Ok(())
    }

    fn state_changed(&self, server: &Upstream, state: &ServerState) {
        let Some(core) = self.0.upgrade() else { return };
        let current = core.member(server.id());
        if current.is_some_and(|member| !std::ptr::eq(Arc::as_ptr(&member.upstream), server)) {
            // It was replaced, and its removal was reported then.
            return;
        }
        if state.is_ready() {
            // Its instructions may have changed even if its lists have not.
            core.observe(server);
        }
        core.report_state(server.id(), state);
        if state.is_ready() {
            // Its capabilities are known now, and they affect the entries of its tools.
            core.reroute();
            let plan = core.plans.read().get(server.id()).cloned();
            if plan.is_some_and(|plan| plan.peer.is_gateway()) {
                // The servers of that gateway may have become ready before we listened to it:
                // gateways that serve each other wait for each other's lists.
                server.reread_lists();
            }
        }
    }

    fn lists_changed(&self, server: &Upstream) {
        if let Some(core) = self.0.upgrade() {
            core.observe(server);
            core.reroute();
            core.log_problems(server);
        }
    }

    fn list_announced(&self, server: &Upstream, change: &Change) {
        let Some(core) = self.0.upgrade() else { return };
        // Its lists are not passed on unchanged, and two gateways would notify each other endlessly.
        let member = core.member(server.id());
        if member.is_some_and(|member| member.plan.peer.is_gateway()) {
            return;
        }
        // A server may have different lists for each session, so let clients read the lists again.
        core.list_news.tell(match change {
            Change::ToolsChanged => ChangedList::Tools,
            Change::PromptsChanged => ChangedList::Prompts,
            Change::ResourcesChanged => ChangedList::Resources,
            _ => return,
        });
    }

    /// Does nothing: the session reports the change itself, with the full notification of the server.
    fn resource_updated(&self, _: &Upstream, _: &Arc<str>) {}

    fn resource_updates_missed(&self, _: &Upstream, uri: &Arc<str>, why: MissedUpdates) {
        // Nothing was missed: the session was connected all the time.
        if why == MissedUpdates::Moved {
            return;
        }
        let Some(core) = self.0.upgrade() else { return };
        if let Some(changes) = core.changes.get() {
            changes.resource(&**uri);
        }
    }
}

impl Core {
    /// Reports a state of a server to the recorder and the application. A removal is reported once.
    pub(super) fn report_state(&self, id: &ServerId, state: &ServerState) {
        let mut reported = self.reported.lock();
        if !matches!(state, ServerState::Removed) {
            reported.insert(id.clone());
        } else if !reported.remove(id) {
            return;
        }
        drop(reported);
        if let Some(recorder) = &self.recorder {
            record_state(recorder, id.as_str(), state);
        }
        if let Some(on_state) = &self.on_state {
            on_state(id, state);
        }
    }
}

fn record_state(recorder: &Recorder, server: &str, state: &ServerState) {
    match state {
        ServerState::Ready(_) => recorder.server_ready(server),
        ServerState::Restarting { pause, .. } => recorder.server_failed(server, Some(*pause)),
        ServerState::Failed { retry_after, .. } => recorder.server_failed(server, *retry_after),
        ServerState::Removed => recorder.server_removed(server),
        _ => {}
    }
}
