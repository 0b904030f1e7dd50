//! Notifications of clients, on whichever transport they come.

use std::sync::Arc;

use turnbuckle_protocol::{IdRef, envelope::Notification};

use super::running::RunningRequests;
use crate::{
    client::{Peer, roots},
    engine::Shared,
};

/// Takes a notification. `peer` is the end of the session as a whole, and `running` what is being
/// served there. Must be called inside a runtime.
pub(super) fn take(
    shared: &Shared,
    peer: &Arc<Peer>,
    running: &RunningRequests,
    notification: &Notification<'_>,
) {
    match &*notification.method {
        "notifications/initialized" => peer.initialized(),
        "notifications/cancelled" => {
            // Nothing but the id is looked at: whatever else is wrong, the client wants an end.
            let id = notification.params.get("requestId");
            if let Some(id) = id.and_then(IdRef::from_raw) {
                running.cancel(&id.into_owned());
            }
        }
        "notifications/roots/list_changed" => {
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
