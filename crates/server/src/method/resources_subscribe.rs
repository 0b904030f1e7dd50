//! `resources/subscribe` and `resources/unsubscribe`: a session hears when a resource changes.
//!
//! Until 2025-11-25; then `subscriptions/listen` took their place.

use std::borrow::Cow;

use turnbuckle_protocol::envelope;

use super::Incoming;
use crate::{
    Reject,
    exchange::Step,
    sink::{Sink, Wrote},
    subscription::{Listener, Subject},
};

pub(super) fn subscribe(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let changed = uri(&incoming, "resources/subscribe").and_then(|uri| {
        let catalog = incoming.shared.catalog();
        if catalog.resource_at(&uri, incoming.peer.caller()).is_none() {
            return Err(Reject::resource_not_found(&uri));
        }
        with_listener(&incoming, |listener| {
            listener
                .add(Subject::Resource(uri.as_ref().into()))
                .map_err(|too_many| Reject::invalid_params(too_many.to_string()))
        })
    });
    answer(incoming, changed, out)
}

/// What was not subscribed to, or is no more, can be unsubscribed from all the same: afterwards it
/// is as the client wishes.
pub(super) fn unsubscribe(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let changed = uri(&incoming, "resources/unsubscribe").and_then(|uri| {
        with_listener(&incoming, |listener| {
            listener.remove_resource(&uri);
            Ok(())
        })
    });
    answer(incoming, changed, out)
}

fn uri<'a>(incoming: &'a Incoming<'_>, method: &str) -> Result<Cow<'a, str>, Reject> {
    super::offered(incoming.shared.catalog().offers_resources(), method)?;
    incoming.text("uri")
}

fn with_listener(
    incoming: &Incoming<'_>,
    change: impl FnOnce(&mut Listener) -> Result<(), Reject>,
) -> Result<(), Reject> {
    match incoming.peer.listener() {
        Some(mut listener) => change(&mut listener),
        None => Err(Reject::invalid_request(
            "there is no session here to subscribe with",
        )),
    }
}

fn answer(incoming: Incoming<'_>, changed: Result<(), Reject>, out: &mut impl Sink) -> Step {
    if let Err(reject) = changed {
        return incoming.refuse(reject, out);
    }
    out.put(|out| {
        envelope::write_raw_result(out, &incoming.id, b"{}");
        Wrote::Result
    });
    Step::Done
}
