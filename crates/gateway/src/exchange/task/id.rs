//! The sealed ids of tasks that clients see.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use turnbuckle_server::Reject;
use turnbuckle_session::round::RequestDigest;

use crate::{exchange::call::Context, translate::FrontRequest, upstream::Lane};

/// How long an id is valid: longer than a server keeps a task.
const ID_LASTS: Duration = Duration::from_hours(24 * 7);

/// Used instead of a session number if the task belongs to a process of the gateway and not to one
/// session. Real numbers never get this large.
const NO_SESSION: u64 = u64::MAX;

/// Used instead of a session number if the server may know the task in every session, including
/// those of other processes of the gateway. The process that created the task is asked first.
const ANY_SESSION: u64 = u64::MAX - 1;

/// The content of a sealed task id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct TaskId {
    pub(super) server: String,
    /// The session that the task runs in, for a legacy server or a process: the process of the
    /// gateway, and the number of the session in it.
    session: Option<(u64, u64)>,
    /// The server's own id.
    pub(super) own: String,
}

impl TaskId {
    /// The id of a task that its server knows only in this session or process.
    pub(super) fn of_session(context: &Context, server: &str, lane: &Lane, own: &str) -> Self {
        Self {
            server: server.to_owned(),
            session: Some((context.parked.node(), lane.number)),
            own: own.to_owned(),
        }
    }

    /// The id of a task that its server knows in every session.
    pub(super) fn of_server(server: &str, own: &str) -> Self {
        Self {
            server: server.to_owned(),
            session: None,
            own: own.to_owned(),
        }
    }

    /// The id of a task that its server knows in every session of this process of the gateway, and
    /// perhaps in sessions of other processes.
    pub(super) fn of_mounted(context: &Context, server: &str, own: &str) -> Self {
        Self {
            server: server.to_owned(),
            session: Some((context.parked.node(), ANY_SESSION)),
            own: own.to_owned(),
        }
    }

    /// The id of a task that only this process of the gateway knows.
    pub(super) fn of_process(context: &Context, server: &str, own: &str) -> Self {
        Self {
            server: server.to_owned(),
            session: Some((context.parked.node(), NO_SESSION)),
            own: own.to_owned(),
        }
    }

    /// The process of the gateway that has the session, if it is not this one.
    pub(super) fn other_node(&self, context: &Context) -> Option<u64> {
        let (node, _) = self.session?;
        (node != context.parked.node()).then_some(node)
    }

    /// Whether the process of the gateway that created the task has ended, while its server may
    /// still have the task.
    pub(super) fn is_left_by(&self, context: &Context, node: u64, request: &FrontRequest) -> bool {
        let is_mounted = matches!(self.session, Some((_, ANY_SESSION)));
        is_mounted && !context.other_replicas(request).contains(&node)
    }

    /// The number of the session, if it belongs to this process. Returns an error if no server can
    /// know the task any more.
    pub(super) fn session(&self, context: &Context) -> Result<Option<u64>, Reject> {
        match self.session {
            // Even if the process that created it has ended, the server may still have the task.
            None | Some((_, ANY_SESSION)) => Ok(None),
            Some((node, _)) if node != context.parked.node() => Err(Reject::invalid_params(
                "the task is gone: the gateway that ran it has ended",
            )),
            Some((_, NO_SESSION)) => Err(Reject::invalid_params(
                "the task is gone: its result has expired",
            )),
            Some((_, number)) => Ok(Some(number)),
        }
    }

    /// Seals the id for a caller.
    pub(super) fn seal(&self, context: &Context, caller: Option<&str>) -> Result<String, Reject> {
        context.sealer.seal(self, caller, digest(), ID_LASTS)
    }

    /// Opens the sealed id in the params of a request.
    pub(super) fn open(
        context: &Context,
        request: &FrontRequest,
    ) -> Result<(Self, String), Reject> {
        let Some(sealed) = request.text(&["taskId"]) else {
            return Err(Reject::invalid_params("`params.taskId` must be a string"));
        };
        match context.sealer.open(&sealed, request.caller(), digest()) {
            Ok(id) => Ok((id, sealed)),
            Err(_) => Err(unknown()),
        }
    }
}

/// The error for an id that this caller does not have.
pub(super) fn unknown() -> Reject {
    Reject::invalid_params("the task is unknown")
}

fn digest() -> RequestDigest {
    RequestDigest::named("task", "")
}
