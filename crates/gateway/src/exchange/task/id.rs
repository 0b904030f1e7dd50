//! The ids of tasks, as clients see them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use turnbuckle_server::Reject;
use turnbuckle_session::round::RequestDigest;

use crate::{exchange::call::Context, translate::FrontRequest, upstream::Lane};

/// How long an id can be used: longer than a server keeps a task.
const ID_LASTS: Duration = Duration::from_hours(24 * 7);

/// Used in place of the number of a session if the task belongs to a process of the gateway, and not to
/// one session. Real numbers never get this large.
const NO_SESSION: u64 = u64::MAX;

/// The same for a task that its server may know in every session, also in those of other processes of
/// the gateway. The process that began it is asked first.
const ANY_SESSION: u64 = u64::MAX - 1;

/// What the id of a task means.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct TaskId {
    pub(super) server: String,
    /// The session that it runs in, for a legacy server or a process: the process of the gateway, and the
    /// number of the session in it.
    session: Option<(u64, u64)>,
    /// The server's own id.
    pub(super) own: String,
}

impl TaskId {
    /// The id of a task that its server knows in this session only, or in this process.
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

    /// The id of a task that its server knows in every session of this process of the gateway, and perhaps
    /// in those of others.
    pub(super) fn of_mounted(context: &Context, server: &str, own: &str) -> Self {
        Self {
            server: server.to_owned(),
            session: Some((context.parked.node(), ANY_SESSION)),
            own: own.to_owned(),
        }
    }

    /// The id of a task that no server knows, but this process of the gateway.
    pub(super) fn of_process(context: &Context, server: &str, own: &str) -> Self {
        Self {
            server: server.to_owned(),
            session: Some((context.parked.node(), NO_SESSION)),
            own: own.to_owned(),
        }
    }

    /// The process of the gateway that has its session, if that is another one.
    pub(super) fn other_node(&self, context: &Context) -> Option<u64> {
        let (node, _) = self.session?;
        (node != context.parked.node()).then_some(node)
    }

    /// Whether it was begun by a process of the gateway that has ended, and its server may still have it.
    pub(super) fn is_left_by(&self, context: &Context, node: u64, request: &FrontRequest) -> bool {
        let is_mounted = matches!(self.session, Some((_, ANY_SESSION)));
        is_mounted && !context.other_replicas(request).contains(&node)
    }

    /// The number of its session, if it has one here. An error if no server can know the task any more.
    pub(super) fn session(&self, context: &Context) -> Result<Option<u64>, Reject> {
        match self.session {
            // Where the process has ended that began it, its server may still have the task.
            None | Some((_, ANY_SESSION)) => Ok(None),
            Some((node, _)) if node != context.parked.node() => Err(Reject::invalid_params(
                "the task is gone: the gateway that ran it has ended",
            )),
            Some((_, NO_SESSION)) => Err(Reject::invalid_params(
                "the task is gone: its result is not kept any more",
            )),
            Some((_, number)) => Ok(Some(number)),
        }
    }

    /// The id that a caller sees.
    pub(super) fn seal(&self, context: &Context, caller: Option<&str>) -> Result<String, Reject> {
        context.sealer.seal(self, caller, digest(), ID_LASTS)
    }

    /// What the id in the params of a request means.
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

/// The error for an id that is not one of this caller.
pub(super) fn unknown() -> Reject {
    Reject::invalid_params("there is no such task")
}

fn digest() -> RequestDigest {
    RequestDigest::named("task", "")
}
