//! `tools/call`: calls a tool.

use std::{borrow::Cow, sync::Arc};

use turnbuckle_protocol::{CallToolResult, envelope::Held};
use turnbuckle_session::round::Journal;

use super::route;
use crate::{
    Failure, Fault,
    catalog::ToolEntry,
    engine::{
        Incoming, Served, Shared, Sink, StartedCall, exchange, rates::RatedMethod, task::TaskMode,
    },
    handler::TaskChannel,
};

pub(super) fn serve(
    shared: &Arc<Shared>,
    incoming: &Incoming<'_>,
    tool: &Arc<ToolEntry>,
    name: &str,
    out: &mut impl Sink,
) -> Served {
    if let Err(reject) = shared
        .allowances
        .rates
        .check(RatedMethod::ToolCalls, incoming.peer)
    {
        // tools: servers MUST rate limit tool invocations.
        incoming.refuse(reject, out);
        return Served::Done;
    }
    let mode = match tool.task {
        // A modern call does not ask for a task, so a tool without tasks needs no further check.
        None if incoming.revision.is_modern() => Ok(TaskMode::Never),
        _ => TaskMode::of(&shared.tasks.settings, incoming, tool, || {
            let catalog = shared.catalog();
            catalog.offers(incoming.caller(), |offer| offer.tasks)
        }),
    };
    let started = match mode {
        Ok(TaskMode::Never) => start(shared, incoming, tool, name, None, None),
        Ok(mode) => match shared.task_runner(incoming.caller()) {
            Some(runner) => {
                let start = |task| start(shared, incoming, tool, name, Some(task), None);
                let launched = runner.launch(&shared.responder, incoming, mode, &start);
                return launched.put(out).into();
            }
            None => Err(Fault::new("a tool runs as a task, but the server keeps no tasks").into()),
        },
        Err(reject) => Err(reject.into()),
    };
    route::run(shared, incoming, started, out)
}

/// Starts a call. `journal` is set if it continues a task of another replica.
pub(super) fn start(
    shared: &Shared,
    incoming: &Incoming<'_>,
    tool: &Arc<ToolEntry>,
    name: &str,
    task: Option<Arc<TaskChannel>>,
    journal: Option<Journal>,
) -> Result<StartedCall<CallToolResult>, Failure> {
    let input = incoming.arguments()?.map(Held::Borrowed);
    let arguments = Some(Arc::clone(&tool.arguments));
    let name = Cow::Borrowed(name);
    let mut call = incoming.call(&shared.context, "tools/call", name, input, arguments);
    call.task = task;
    call.asks.journal = journal;
    let started = exchange::start(&shared.layers, tool, call)?;
    if tool.output.is_none() {
        return Ok(started);
    }
    // The result is checked against the output schema unless its type guarantees that it matches.
    let tool = Arc::clone(tool);
    Ok(started.map(|future| {
        Box::pin(async move {
            let result = future.await?;
            if let Some(output) = &tool.output {
                output.check(&result)?;
            }
            Ok(result)
        })
    }))
}
