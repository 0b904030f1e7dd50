//! Events of the fleet, handled by the gateway.

use std::sync::{Arc, Weak};

use futures_core::future::BoxFuture;
use turnbuckle_client::{Change, Client, Connection, Target};
use turnbuckle_host::{
    ServerFailure, ServerState,
    shared::{FleetHooks, MissedUpdates, Upstream},
};

use super::{Core, list_news::ChangedList};
use crate::{gateways::GatewayId, observe::Recorder};

/// The core as the fleet tells it.
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
                // It was removed a moment ago, and its supervisor is about to end.
                return std::future::pending().await;
            };
            Ok((plan.client(), plan.spec.target_as_written()?))
        })
    }

    fn admit(&self, server: &Upstream, connection: &Connection) -> Result<(), ServerFailure> {
        let Some(core) = self.0.upgrade() else {
            return Ok(());
        };
        let id = connection.server().capabilities().and_then(GatewayId::of);
        if id.as_ref() == Some(&core.common.gateway) {
            return Err(ServerFailure::misconfigured(
                "it is this gateway itself; leave it out of the servers",
            ));
        }
        if let Some(plan) = core.plans.read().get(server.id()) {
            plan.peer.set(id);
        }
        Ok(())
    }

    fn state_changed(&self, server: &Upstream, state: &ServerState) {
        let Some(core) = self.0.upgrade() else { return };
        if state.is_ready() {
            // Its lists may be the same as before, and its instructions others.
            core.observe(server);
        }
        if let Some(recorder) = &core.recorder {
            record_state(recorder, server.id().as_str(), state);
        }
        if let Some(on_state) = &core.on_state {
            on_state(server.id(), state);
        }
        if state.is_ready() {
            // What it can do is known from now on, and some of it is said of its tools.
            core.reroute();
            let plan = core.plans.read().get(server.id()).cloned();
            if plan.is_some_and(|plan| plan.peer.is_gateway()) {
                // Its own servers may have become ready before it was listened to: gateways that serve
                // each other wait for each other's lists.
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
        // Its lists are not passed on, and two gateways would tell each other without end.
        let member = core.member(server.id());
        if member.is_some_and(|member| member.plan.peer.is_gateway()) {
            return;
        }
        // A server may have other lists for this session than for another one: clients look themselves.
        core.list_news.tell(match change {
            Change::ToolsChanged => ChangedList::Tools,
            Change::PromptsChanged => ChangedList::Prompts,
            Change::ResourcesChanged => ChangedList::Resources,
            _ => return,
        });
    }

    /// The session tells of it itself, with all that the server says.
    fn resource_updated(&self, _: &Upstream, _: &Arc<str>) {}

    fn resource_updates_missed(&self, _: &Upstream, uri: &Arc<str>, why: MissedUpdates) {
        // The session was heard all the time.
        if why == MissedUpdates::Moved {
            return;
        }
        let Some(core) = self.0.upgrade() else { return };
        if let Some(changes) = core.changes.get() {
            changes.resource(&**uri);
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
