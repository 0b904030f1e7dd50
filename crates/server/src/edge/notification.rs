//! Notifications from clients, for all transports.

use std::sync::Arc;

use turnbuckle_protocol::{
    IdRef,
    envelope::{Notification, text_of},
};

use super::running::RunningRequests;
use crate::{
    client::{Peer, roots},
    engine::Shared,
};

/// The maximum length of a reason for a cancellation, in bytes: a sentence or two.
const MAX_REASON: usize = 1024;

pub(super) fn shortened(reason: &str) -> &str {
    &reason[..reason.floor_char_boundary(MAX_REASON)]
}

/// Handles a notification. `peer` is the client as the session as a whole sees it, and `running`
/// the requests that are being served for it. Must be called inside a runtime.
pub(super) fn take(
    shared: &Shared,
    peer: &Arc<Peer>,
    running: &RunningRequests,
    notification: &Notification<'_>,
) {
    match &*notification.method {
        "notifications/initialized" => peer.initialized(),
        "notifications/cancelled" => {
            // Only the id has to be valid: whatever else is wrong, the client wants to cancel the
            // request.
            let id = notification.params.get("requestId");
            let reason = notification.params.get("reason").and_then(text_of);
            if let Some(id) = id.and_then(IdRef::from_raw) {
                let reason = reason.as_deref().map(shortened);
                running.cancel(&id.into_owned(), reason);
            }
        }
        "notifications/progress" => {
            if let Ok(report) = notification.params.parse() {
                peer.take_progress(report);
            }
        }
        "notifications/roots/list_changed" => {
            peer.forget_roots();
            if let Some(hook) = &shared.on_roots_changed {
                roots::changed(hook, Arc::clone(peer));
            }
        }
        method => {
            let (params, caller) = (&notification.params, peer.caller());
            // cancellation, progress, roots: unknown or late notifications are ignored.
            if !shared.extensions.notify(method, params, caller) {
                tracing::debug!(method, "a notification was ignored");
            }
        }
    }
}
