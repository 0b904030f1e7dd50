//! Makes the overview of the gateway for the inspector.

use std::{sync::Arc, time::Instant};

use turnbuckle_host::{ServerId, ServerState};

use crate::{
    core::Core,
    exchange::MAX_PARKED,
    observe::{CallerCounts, Overview, Period, Recorder, ServerView},
    personal::Callers,
    upstream::Member,
};

/// How many lines of stderr are shown.
const STDERR_LINES: usize = 200;

/// Makes the overview; `None` if the gateway has no recorder.
pub(crate) fn overview(core: &Core, callers: &Callers, period: Period) -> Option<Overview> {
    let recorder = core.recorder.as_ref()?;
    let now = Instant::now();
    let members = core.members();
    let servers = members.iter().map(|member| server(member, recorder, now));
    let of_callers = callers.sessions();
    let of_callers = of_callers
        .iter()
        .map(|(id, sessions)| of_callers_view(id, sessions, recorder, now));
    let parked = core.context.parked.waiting().into_iter();
    let mut waiting = recorder.waiting(now);
    waiting.extend(parked.map(|waiting| waiting.view(now)));
    waiting.sort_by_key(|waiting| std::cmp::Reverse(waiting.age));
    Some(Overview {
        uptime: now.saturating_duration_since(recorder.began()).as_secs(),
        servers: servers.chain(of_callers).collect(),
        waiting,
        max_waiting: MAX_PARKED,
        traffic: recorder.traffic(period),
    })
}

/// How many callers have each of the servers that callers reach with their own credentials.
pub(crate) fn caller_counts(callers: &Callers) -> Vec<(ServerId, CallerCounts)> {
    let counted = |(id, sessions): (ServerId, Vec<Arc<Member>>)| (id, counts(&sessions));
    callers.sessions().into_iter().map(counted).collect()
}

fn counts(sessions: &[Arc<Member>]) -> CallerCounts {
    let mut counts = CallerCounts::default();
    for member in sessions {
        match member.upstream.state() {
            ServerState::Ready(_) => counts.ready += 1,
            ServerState::Restarting { .. } | ServerState::Failed { .. } => counts.failed += 1,
            _ => counts.starting += 1,
        }
    }
    counts
}

/// The view of one server for all callers that have it. It does not name the callers.
fn of_callers_view(
    id: &ServerId,
    sessions: &[Arc<Member>],
    recorder: &Recorder,
    now: Instant,
) -> ServerView {
    let counts = counts(sessions);
    let CallerCounts {
        ready,
        starting,
        failed,
    } = counts;
    let tools = sessions
        .iter()
        .map(|member| member.upstream.lists().tools.entries.len());
    let mut view = ServerView {
        id: id.to_string(),
        target: format!("for each caller: {ready} ready, {starting} starting, {failed} failed"),
        tools: tools.max().unwrap_or_default(),
        callers: Some(counts),
        ..ServerView::default()
    };
    recorder.fill(&mut view, now);
    view.state = match counts {
        CallerCounts { ready: 1.., .. } => "ready",
        CallerCounts { starting: 1.., .. } => "starting",
        CallerCounts { failed: 1.., .. } => "failed",
        _ => "idle",
    };
    view.revision = sessions
        .iter()
        .find_map(|member| match member.upstream.state() {
            ServerState::Ready(ready) => Some(ready.revision),
            _ => None,
        });
    view
}

fn server(member: &Member, recorder: &Recorder, now: Instant) -> ServerView {
    let mut view = ServerView {
        id: member.id.to_string(),
        target: member.plan.spec.to_redacted_string(),
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
