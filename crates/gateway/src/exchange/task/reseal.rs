//! Replaces the server's task id in results and questions with the id that the client knows.

use serde_json::value::RawValue;
use turnbuckle_protocol::envelope::{Edit, Raw, RawText};
use turnbuckle_server::RelayReply;

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// Replaces the id in an object that names a task, in `taskId` or in its related-task metadata.
pub(super) fn resealed(raw: Raw<'_>, sealed: &str) -> Option<RawText> {
    let mut edit = Edit::new(raw);
    if raw.member("taskId").is_some() {
        edit = edit.set_text(&["taskId"], sealed);
    }
    if raw.at(&["_meta", RELATED_TASK, "taskId"]).is_some() {
        edit = edit.set_text(&["_meta", RELATED_TASK, "taskId"], sealed);
    }
    if edit.is_empty() {
        return Some(RawText::from(raw));
    }
    edit.finish().ok()
}

/// Replaces the id in a reply that names a task.
pub(super) fn resealed_reply(reply: RelayReply, sealed: &str) -> RelayReply {
    let RelayReply::Result(result) = reply else {
        return reply;
    };
    let edited = serde_json::from_slice::<&RawValue>(&result)
        .ok()
        .and_then(|raw| resealed(Raw::from(raw), sealed));
    match edited {
        Some(edited) => RelayReply::Result(edited.raw().get().as_bytes().to_vec()),
        None => RelayReply::Result(result),
    }
}

/// Adds the related-task metadata of this task to the params of a question or to a result.
pub(in crate::exchange) fn related_to(raw: Raw<'_>, sealed: &str) -> Option<RawText> {
    let edit = Edit::new(raw).set_text(&["_meta", RELATED_TASK, "taskId"], sealed);
    edit.finish().ok()
}

/// Removes the related-task metadata from a result.
pub(super) fn unrelated(raw: Raw<'_>) -> Option<RawText> {
    Edit::new(raw).drop(&["_meta", RELATED_TASK]).finish().ok()
}
