//! Translation between revisions: requests, results, errors and questions.
//!
//! All values are passed on as text. Single members are dropped, set or renamed. A value is parsed
//! and written again only if the target revision cannot express it (rule G32).

mod ask;
mod error;
mod request;
mod result;

pub(crate) use ask::{Question, answer, expired, not_offered, refusal};
pub(crate) use error::{Answer, error, lost, unavailable};
pub(crate) use request::{FrontRequest, Own, Round};
pub(crate) use result::{
    is_input_required, is_task, lower_entry, result, with_task_support, with_tasks_supported,
};

use turnbuckle_protocol::envelope::Raw;

/// The text of a JSON string.
pub(crate) fn text_of(raw: Raw<'_>) -> Option<String> {
    raw.parse().ok()
}
