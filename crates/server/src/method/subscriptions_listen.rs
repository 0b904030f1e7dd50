//! `subscriptions/listen`: a client hears of changes, for as long as the request is open.

use std::sync::Arc;

use turnbuckle_protocol::{
    Complete, Id, ServerCapabilities, SubscriptionFilter,
    SubscriptionsAcknowledgedNotificationParams, SubscriptionsListenRequestParams,
    SubscriptionsListenResult, envelope,
};

use super::Incoming;
use crate::{
    Reject,
    exchange::Step,
    peer::{Listener, Wants},
    sink::{Response, Sink, Wrote},
};

pub(super) fn serve(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let params: SubscriptionsListenRequestParams = match incoming.params.parse() {
        Ok(params) => params,
        Err(error) => {
            let reject = Reject::invalid_params(format!("the request cannot be read: {error}"));
            return incoming.refuse(reject, out);
        }
    };
    let shared = Arc::clone(incoming.shared);
    let accepted = accepted(&params.notifications, &shared.catalog().capabilities());
    let id = incoming.id.into_owned();
    let peer = Arc::clone(incoming.peer);
    Step::Later(Box::pin(async move {
        // subscriptions: the acknowledgement is the first message of the subscription.
        let acknowledged = SubscriptionsAcknowledgedNotificationParams::new(&id, accepted.clone());
        peer.notify("notifications/subscriptions/acknowledged", &acknowledged)
            .await;
        let listener = Arc::new(Listener::new(peer, Wants::Listen(id.clone(), accepted)));
        shared.listen(&listener);
        // Open until the client cancels or the connection ends, either of which drops this
        // future, or until we close.
        shared.closing.wait().await;
        goodbye(&id)
    }))
}

/// subscriptions: a server that ends the stream says so with the empty result.
fn goodbye(id: &Id) -> Response {
    let result = Complete(SubscriptionsListenResult::new(id));
    let mut response = Response::default();
    response.put(|out| {
        envelope::write_result(out, &id.as_ref(), |out| serde_json::to_writer(out, &result))
            .expect("a SubscriptionsListenResult is plain JSON");
        Wrote::Result
    });
    response
}

/// What of the wish can be fulfilled.
fn accepted(wish: &SubscriptionFilter, can: &ServerCapabilities) -> SubscriptionFilter {
    let granted = |wanted: bool, can: Option<bool>| (wanted && can == Some(true)).then_some(true);
    SubscriptionFilter {
        tools_list_changed: granted(
            wish.wants_tools(),
            can.tools.as_ref().and_then(|tools| tools.list_changed),
        ),
        prompts_list_changed: granted(
            wish.wants_prompts(),
            can.prompts
                .as_ref()
                .and_then(|prompts| prompts.list_changed),
        ),
        resources_list_changed: granted(
            wish.wants_resources(),
            can.resources
                .as_ref()
                .and_then(|resources| resources.list_changed),
        ),
        resource_subscriptions: None,
        task_ids: None,
    }
}
