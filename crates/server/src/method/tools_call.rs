//! `tools/call`: a tool runs.

use std::sync::Arc;

use turnbuckle_protocol::{CallToolResult, envelope::Held};

use super::Incoming;
use crate::{
    Call, Failure, Fault, Reject,
    catalog::ToolEntry,
    exchange::{self, Running, Step},
    sink::Sink,
    task::{Board, Wish},
};

pub(super) fn serve(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let started = find(&incoming).and_then(|tool| {
        // A modern call says nothing of tasks: what need not be looked for is not.
        let wish = match tool.task {
            None if incoming.revision.is_modern() => Wish::Never,
            _ => Wish::of(&incoming, &tool)?,
        };
        Ok((tool, wish))
    });
    let started = match started {
        Ok((tool, Wish::Never)) => start(&incoming, &tool, None),
        Ok((tool, wish)) => {
            let start = |incoming: &Incoming<'_>, board| start(incoming, &tool, Some(board));
            let room = incoming.shared.task_room();
            match room.ok_or_else(|| Fault::new("there is a task, and no tool that runs as one")) {
                Ok(room) => return room.launch(&incoming, wish, &start).step(out),
                Err(fault) => Err(fault.into()),
            }
        }
        Err(failure) => Err(failure),
    };
    exchange::run(
        incoming.shared,
        incoming.revision,
        incoming.id,
        started,
        out,
    )
}

/// The tool that is called.
fn find(incoming: &Incoming<'_>) -> Result<Arc<ToolEntry>, Failure> {
    let catalog = incoming.shared.catalog();
    super::offered(catalog.tools.is_offered(), "tools/call")?;
    let name = incoming.text("name")?;
    let tool = catalog
        .tools
        .get(&name, incoming.peer.caller())
        .ok_or_else(|| Reject::invalid_params(format!("there is no tool `{name}`")))?;
    if !incoming.peer.caller().has_scopes(&tool.scopes) {
        let wanted = tool.scopes.join(" ");
        let message = format!("the tool `{name}` needs the scopes `{wanted}`");
        return Err(Reject::invalid_request(message).into());
    }
    Ok(Arc::clone(tool))
}

fn start(
    incoming: &Incoming<'_>,
    tool: &Arc<ToolEntry>,
    board: Option<Arc<Board>>,
) -> Result<Running<CallToolResult>, Failure> {
    let name = incoming.text("name")?;
    let input = incoming.arguments()?.map(Held::Borrowed);
    let mut call = Call::of(
        incoming,
        "tools/call",
        name,
        input,
        Some(Arc::clone(&tool.arguments)),
    );
    call.board = board;
    let running = exchange::start(tool, call)?;
    Ok(if tool.output.is_some() {
        checked(Arc::clone(tool), running)
    } else {
        running
    })
}

/// Checks the result against an output schema that its type does not guarantee.
fn checked(tool: Arc<ToolEntry>, running: Running<CallToolResult>) -> Running<CallToolResult> {
    let Running {
        future,
        cancel,
        asking,
    } = running;
    let future = Box::pin(async move {
        let result = future.await?;
        if let Some(output) = &tool.output {
            output.check(&result)?;
        }
        Ok(result)
    });
    Running {
        future,
        cancel,
        asking,
    }
}
