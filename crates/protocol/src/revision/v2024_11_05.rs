//! 2024-11-05, the first revision.

use super::rules::{ArgumentErrors, Era, Rules};
use crate::envelope::UnreadableId;

pub(super) const RULES: Rules = Rules {
    era: Era::Legacy,
    batches: false,
    unreadable_id: UnreadableId::Null,
    argument_errors: ArgumentErrors::Protocol,
    streamable_http: false,
    version_header: false,
    mirrored_headers: false,
    standing_streams: true,
    priming_events: false,
    sampling_tools: false,
    sampling_context: false,
    elicitation_ids: false,
    visits_first: false,
    task_fields: false,
};
