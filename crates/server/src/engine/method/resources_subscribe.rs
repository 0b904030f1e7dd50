//! `resources/subscribe` and `resources/unsubscribe`: subscriptions of sessions.
//!
//! Up to 2025-11-25; later revisions have `subscriptions/listen` instead.

use crate::{
    Reject,
    engine::{Incoming, Shared, Sink, target::offered},
    subscription::{Listener, Subject},
};

pub(super) fn subscribe(incoming: &Incoming<'_>, uri: &str, out: &mut impl Sink) {
    let changed = with_listener(incoming, |listener| {
        Ok(listener.add(Subject::Resource(uri.into()))?)
    });
    incoming.acknowledge(changed, out);
}

/// Unsubscribing from a resource without a subscription is not an error: the state afterwards is
/// what the client wants.
pub(super) fn unsubscribe(shared: &Shared, incoming: &Incoming<'_>, out: &mut impl Sink) {
    let catalog = shared.catalog();
    let is_offered = catalog.offers(incoming.caller(), |offer| offer.resources);
    let uri = offered(is_offered, incoming.method).and_then(|()| incoming.text("uri"));
    let changed = uri.and_then(|uri| {
        with_listener(incoming, |listener| {
            listener.remove_resource(&uri);
            Ok(())
        })
    });
    incoming.acknowledge(changed, out);
}

fn with_listener(
    incoming: &Incoming<'_>,
    change: impl FnOnce(&mut Listener) -> Result<(), Reject>,
) -> Result<(), Reject> {
    match incoming.peer.listener() {
        Some(mut listener) => change(&mut listener),
        None => Err(Reject::invalid_request(
            "`resources/subscribe` and `resources/unsubscribe` work only in a session",
        )),
    }
}
