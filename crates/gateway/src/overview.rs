//! The gateway as people see it, put together.

use std::time::Instant;

use turnbuckle_host::ServerState;

use crate::{
    core::Core,
    exchange::MAX_PARKED,
    observe::{Overview, Period, Recorder, ServerView},
    upstream::Member,
};

/// As many lines of stderr as a person reads.
const STDERR_LINES: usize = 200;

/// What there is to see; `None` if nothing is recorded.
pub(crate) fn overview(core: &Core, period: Period) -> Option<Overview> {
    let recorder = core.recorder.as_ref()?;
    let now = Instant::now();
    let members = core.members();
    let servers = members.iter().map(|member| server(member, recorder, now));
    let parked = core.context.parked.waiting().into_iter();
    let mut waiting = recorder.waiting(now);
    waiting.extend(parked.map(|waiting| waiting.view(now)));
    waiting.sort_by_key(|waiting| std::cmp::Reverse(waiting.age));
    Some(Overview {
        uptime: now.saturating_duration_since(recorder.began()).as_secs(),
        servers: servers.collect(),
        waiting,
        max_waiting: MAX_PARKED,
        traffic: recorder.traffic(period),
    })
}

fn server(member: &Member, recorder: &Recorder, now: Instant) -> ServerView {
    let mut view = ServerView {
        id: member.id.to_string(),
        target: member.plan.spec.shown(),
        processes: member.processes(),
        tools: member.upstream.lists().tools.entries.len(),
        ..ServerView::default()
    };
    recorder.fill(&mut view, now);
    let state = member.upstream.state();
    view.state = match &state {
        ServerState::Idle => "idle",
        ServerState::Disabled => "disabled",
        ServerState::Starting => "starting",
        ServerState::Ready(_) => "ready",
        ServerState::Restarting { .. } => "restarting",
        ServerState::Failed { .. } => "failed",
        _ => "removed",
    };
    if let ServerState::Ready(ready) = &state {
        view.revision = Some(ready.revision);
        let named = ready.implementation.as_ref();
        view.title = named.map(|info| info.title.clone().unwrap_or_else(|| info.name.clone()));
    }
    let live = member.upstream.live();
    let log = live.as_ref().and_then(|connection| connection.stderr());
    if let Some(log) = log {
        let lines = log.lines();
        let first = lines.len().saturating_sub(STDERR_LINES);
        view.stderr = lines[first..]
            .iter()
            .map(|line| line.text.clone())
            .collect();
    }
    if let Some(failure) = state.failure() {
        view.reason = Some(failure.reason.clone());
        if view.stderr.is_empty() {
            view.stderr.clone_from(&failure.stderr);
        }
    }
    view
}
