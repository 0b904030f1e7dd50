//! `subscriptions/listen`: a client hears of changes, for as long as the request is open.

use std::sync::Arc;

use serde::Serialize;
use turnbuckle_protocol::{
    Complete, Id, ServerCapabilities, SubscriptionFilter, SubscriptionsListenRequestParams,
    envelope,
};

use super::Incoming;
use crate::{
    Reject,
    exchange::Step,
    peer::{Listener, Wants, tagged},
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
    // From here on no change is missed; it is told after the acknowledgement.
    let wants = Wants::Listen(id.clone(), accepted.clone());
    let listener = Arc::new(Listener::new(Arc::clone(&peer), wants));
    shared.listen(&listener);
    Step::Later(Box::pin(async move {
        // subscriptions: the acknowledgement is the first message of the subscription.
        let acknowledged = tagged(
            Acknowledged {
                notifications: accepted,
            },
            &id,
        );
        peer.notify("notifications/subscriptions/acknowledged", &acknowledged)
            .await;
        listener.release();
        // Open until the client cancels or the connection ends, either of which drops this
        // future, or until one of us says that no more will come.
        peer.input_ended().await;
        goodbye(&id)
    }))
}

/// The first message of a subscription, apart from its `_meta`.
#[derive(Serialize)]
struct Acknowledged {
    notifications: SubscriptionFilter,
}

/// subscriptions: a server that ends the stream says so with the empty result.
fn goodbye(id: &Id) -> Response {
    let result = Complete(tagged((), id));
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
    let offered = offered(can);
    let granted = |wanted: bool, can: bool| (wanted && can).then_some(true);
    SubscriptionFilter {
        tools_list_changed: granted(wish.wants_tools(), offered.wants_tools()),
        prompts_list_changed: granted(wish.wants_prompts(), offered.wants_prompts()),
        resources_list_changed: granted(wish.wants_resources(), offered.wants_resources()),
        resource_subscriptions: None,
        task_ids: None,
    }
}

/// All that can be told of.
pub(super) fn offered(can: &ServerCapabilities) -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: can.tools.as_ref().and_then(|tools| tools.list_changed),
        prompts_list_changed: can
            .prompts
            .as_ref()
            .and_then(|prompts| prompts.list_changed),
        resources_list_changed: can.resources.as_ref().and_then(|all| all.list_changed),
        resource_subscriptions: None,
        task_ids: None,
    }
}
