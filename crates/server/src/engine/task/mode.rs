//! Whether a call becomes a task.

use std::time::Duration;

use turnbuckle_protocol::{
    ClientCapabilities, ErrorObject, JsonObject, Revision, TASKS_EXTENSION, TaskMetadata,
    TaskSupport,
    error::problem_in_message,
    method::{Direction, available},
};

use super::TaskSettings;
use crate::{Reject, catalog::ToolEntry, engine::Incoming};

/// Whether a call becomes a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskMode {
    /// The call never becomes a task.
    Never,
    /// It becomes a task when its handler calls `Background::begin`.
    WhenSaid,
    /// It becomes a task if it does not finish immediately.
    UnlessDone(Duration),
    /// It becomes a task immediately.
    AtOnce(Duration),
}

impl TaskMode {
    /// Decides whether a call of this tool becomes a task.
    ///
    /// # Errors
    /// If the tool and the client do not agree on tasks.
    pub(crate) fn of(
        settings: &TaskSettings,
        incoming: &Incoming<'_>,
        tool: &ToolEntry,
        runs_tasks: impl FnOnce() -> bool,
    ) -> Result<Self, Reject> {
        if incoming.revision.is_modern() {
            return Self::modern(settings.ttl, incoming, tool);
        }
        let asked = incoming
            .params
            .get("task")
            .filter(|_| speaks_of_tasks(incoming.revision));
        let Some(asked) = asked else {
            return match tool.task {
                // tasks: servers MUST answer −32601 if a task is required and was not requested.
                Some(TaskSupport::Required) if speaks_of_tasks(incoming.revision) => Err(
                    unsupported(tool, "runs only as a task: call it with `task`"),
                ),
                Some(TaskSupport::Required) => {
                    let revision = incoming.revision;
                    let problem = format!("runs only as a task, which {revision} does not have");
                    Err(unsupported(tool, &problem))
                }
                _ => Ok(Self::Never),
            };
        };
        let asked = asked.parse::<TaskMetadata>().map_err(|error| {
            let problem = problem_in_message(&error);
            Reject::invalid_params(format!("`params.task`: {problem}"))
        })?;
        match tool.task {
            Some(TaskSupport::Optional | TaskSupport::Required) => {
                Ok(Self::AtOnce(settings.grant(asked.ttl)))
            }
            // tasks: a server that declares no capability MUST ignore the request for a task.
            _ if !runs_tasks() => Ok(Self::Never),
            _ => Err(unsupported(
                tool,
                "does not run as a task: call it without `task`",
            )),
        }
    }

    fn modern(ttl: Duration, incoming: &Incoming<'_>, tool: &ToolEntry) -> Result<Self, Reject> {
        let declares_tasks = || incoming.declares(TASKS_EXTENSION);
        match tool.task {
            Some(TaskSupport::Optional | TaskSupport::Required)
                if declares_tasks() && tool.begins_task =>
            {
                Ok(Self::WhenSaid)
            }
            Some(TaskSupport::Optional) if declares_tasks() => Ok(Self::UnlessDone(ttl)),
            Some(TaskSupport::Required) if declares_tasks() => Ok(Self::AtOnce(ttl)),
            Some(TaskSupport::Required) => Err(undeclared()),
            _ => Ok(Self::Never),
        }
    }
}

fn unsupported(tool: &ToolEntry, problem: &str) -> Reject {
    let error = ErrorObject::new(
        turnbuckle_protocol::error::code::METHOD_NOT_FOUND,
        format!("the tool `{}` {problem}", tool.wire.name),
    );
    Reject::of(error)
}

/// Whether calls of this revision can ask to become tasks.
fn speaks_of_tasks(revision: Revision) -> bool {
    available("tasks/result", revision, Direction::ToServer)
}

/// tasks: a client that does not declare the extension MUST get error −32021.
pub(crate) fn undeclared() -> Reject {
    let required = ClientCapabilities::new().with_extension(TASKS_EXTENSION, JsonObject::new());
    Reject::of(ErrorObject::missing_capability(
        format!("this needs the client to declare the extension `{TASKS_EXTENSION}`"),
        required,
    ))
}
