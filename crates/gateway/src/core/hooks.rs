//! What the keeper of the servers tells the gateway.

use std::sync::{Arc, Weak};

use futures_core::future::BoxFuture;
use turnbuckle_client::{Change, Client, Target};
use turnbuckle_host::{
    ServerFailure, ServerState,
    shared::{FleetHooks, Unheard, Upstream},
};

use super::Core;
use crate::observe::Recorder;

/// How many problems with the lists of a server are logged each time they change.
const LOGGED_PROBLEMS: usize = 5;

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
            Ok((plan.client(), plan.spec.way()?))
        })
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
        }
    }

    fn lists_changed(&self, server: &Upstream) {
        if let Some(core) = self.0.upgrade() {
            core.observe(server);
            core.reroute();
            // Nothing is left out of lists that are passed on unchanged.
            if !core.passes_lists() {
                log_problems(server);
            }
        }
    }

    fn list_announced(&self, _: &Upstream, change: &Change) {
        let Some(core) = self.0.upgrade() else { return };
        let Some(changes) = core.changes.get() else {
            return;
        };
        // A server may have other lists for this session than for another one: clients look themselves.
        match change {
            Change::ToolsChanged => changes.tools(),
            Change::PromptsChanged => changes.prompts(),
            Change::ResourcesChanged => changes.resources(),
            _ => {}
        }
    }

    /// The session tells of it itself, with all that the server says.
    fn resource_updated(&self, _: &Upstream, _: &Arc<str>) {}

    fn resource_unheard(&self, _: &Upstream, uri: &Arc<str>, why: Unheard) {
        // The session was heard all the time.
        if why == Unheard::Moved {
            return;
        }
        let Some(core) = self.0.upgrade() else { return };
        if let Some(changes) = core.changes.get() {
            changes.resource(&**uri);
        }
    }
}

/// Logs what was left out of the lists of a server.
fn log_problems(server: &Upstream) {
    let lists = server.lists();
    let problems: Vec<_> = [
        &lists.tools.problems,
        &lists.prompts.problems,
        &lists.resources.problems,
        &lists.templates.problems,
        &lists.failures,
    ]
    .into_iter()
    .flatten()
    .collect();
    let id = server.id().as_str();
    for problem in problems.iter().take(LOGGED_PROBLEMS) {
        tracing::warn!(server = id, "{problem}");
    }
    let more = problems.len().saturating_sub(LOGGED_PROBLEMS);
    if more > 0 {
        tracing::warn!(server = id, "{more} more problems with its lists");
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
