//! Completed tasks, for calls that a modern server answered immediately although a legacy client
//! requested a task.

use serde_json::value::RawValue;
use turnbuckle_protocol::{LegacyTask, Revision, Task, TaskStatus, envelope::Raw};
use turnbuckle_server::{Reject, RelayReply};

use super::{
    legacy_server::{acknowledged, shown},
    modern_server::terminal,
    reseal::{related_to, resealed_reply},
};
use crate::translate;

/// A task whose result was there immediately.
#[derive(Clone)]
pub(super) struct Finished {
    /// The task in the form of 2025-11-25.
    pub(super) task: String,
    /// The result for `tasks/result`.
    pub(super) result: Vec<u8>,
}

impl Finished {
    /// Serves a legacy client's request about the task.
    pub(super) fn serve(&self, method: &str, sealed: &str) -> RelayReply {
        match method {
            "tasks/result" => {
                let related = serde_json::from_slice::<&RawValue>(&self.result)
                    .ok()
                    .and_then(|raw| related_to(Raw::from(raw), sealed));
                match related {
                    Some(related) => RelayReply::Result(related.raw().get().as_bytes().to_vec()),
                    None => RelayReply::Result(self.result.clone()),
                }
            }
            "tasks/cancel" => terminal(),
            _ => {
                let task = RelayReply::Result(self.task.as_bytes().to_vec());
                resealed_reply(task, sealed)
            }
        }
    }

    /// Serves a request from another replica of the gateway, which asks like a modern client.
    pub(super) fn serve_modern(&self, method: &str, sealed: &str) -> RelayReply {
        if method != "tasks/get" {
            return acknowledged();
        }
        let unreadable = || Reject::internal("the task cannot be read").into();
        let Ok(task) = serde_json::from_str::<LegacyTask>(&self.task) else {
            return unreadable();
        };
        let Ok(raw) = serde_json::from_slice::<&RawValue>(&self.result) else {
            return unreadable();
        };
        let mut task = Task::from(task);
        // tasks: a tool's failure is a result like any other, so the task has completed.
        task.status = TaskStatus::Completed;
        let (from, to) = (Revision::LATEST_LEGACY, Revision::LATEST);
        match translate::result("tools/call", raw, from, to, None).map(String::from_utf8) {
            Ok(Ok(result)) => shown(&task, sealed, "complete", &[("result", result)]),
            Ok(Err(_)) => unreadable(),
            Err(reject) => reject.into(),
        }
    }
}
