//! Repeats calls whose server died, if they may run twice.

use std::sync::atomic::{AtomicU8, Ordering};

use turnbuckle_client::CallError;

use super::call::Route;
use crate::translate::FrontRequest;

/// How the server was lost during a call.
#[derive(Default)]
pub(super) struct LostCall(AtomicU8);

/// The call was sent and may have run.
const UNANSWERED: u8 = 1;
/// The call was not sent.
const UNSENT: u8 = 2;

impl LostCall {
    /// Records why a call that was sent has no answer.
    pub(super) fn note(&self, error: &CallError) {
        if matches!(error, CallError::Closed { .. } | CallError::Lost { .. }) {
            self.0.store(UNANSWERED, Ordering::Relaxed);
        }
    }

    /// Records why a call was not sent.
    pub(super) fn note_unsent(&self, error: &CallError) {
        if matches!(error, CallError::Closed { .. }) {
            self.0.store(UNSENT, Ordering::Relaxed);
        }
    }

    /// Whether the call may be sent again.
    pub(super) fn allows_another(&self, is_repeatable: impl FnOnce() -> bool) -> bool {
        match self.0.load(Ordering::Relaxed) {
            UNANSWERED => is_repeatable(),
            UNSENT => true,
            _ => false,
        }
    }
}

/// Whether a call may run twice: it only reads, or its tool is marked as idempotent.
pub(super) fn is_repeatable(request: &FrontRequest, route: &Route) -> bool {
    match request.method.as_str() {
        "prompts/get"
        | "resources/read"
        | "completion/complete"
        | "tools/list"
        | "prompts/list"
        | "resources/list"
        | "resources/templates/list" => true,
        "tools/call" if !request.wants_task() => {
            let own = route.name.as_ref().map(|(_, own)| own.clone());
            let own = own.or_else(|| request.text(&["name"])).unwrap_or_default();
            let lists = route.member.upstream.lists();
            let tool = lists
                .tools
                .entries
                .iter()
                .find(|tool| tool.value.name == own);
            let hints = tool.and_then(|tool| tool.value.annotations.as_ref());
            hints.is_some_and(|hints| {
                hints.read_only_hint == Some(true) || hints.idempotent_hint == Some(true)
            })
        }
        _ => false,
    }
}
