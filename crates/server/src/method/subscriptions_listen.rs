//! `subscriptions/listen`: a client hears of changes, for as long as the request is open.

use std::collections::HashSet;

use turnbuckle_protocol::{
    ServerCapabilities, SubscriptionFilter, SubscriptionsListenRequestParams,
};

use super::Incoming;
use crate::{Reject, exchange::Step, sink::Sink, subscription::Subscription, task};

pub(super) fn serve(incoming: Incoming<'_>, out: &mut impl Sink) -> Step {
    let params: SubscriptionsListenRequestParams = match incoming.params.parse() {
        Ok(params) => params,
        Err(error) => {
            let reject = Reject::invalid_params(format!("the request cannot be read: {error}"));
            return incoming.refuse(reject, out);
        }
    };
    let wants_tasks = !params.notifications.tasks().is_empty();
    // tasks: who asks to hear of tasks MUST declare the extension.
    if wants_tasks && incoming.shared.catalog().runs_tasks() && !task::declares_tasks(&incoming) {
        return incoming.refuse(task::undeclared(), out);
    }
    let accepted = accepted(&incoming, &params.notifications);
    let room = incoming.shared.task_room();
    let tasks = accepted.task_ids.as_deref().zip(room).map(|(tasks, room)| {
        let id = incoming.id.clone().into_owned();
        room.listen(incoming.peer.caller(), id, tasks)
    });
    let hub = incoming.shared.office.hub();
    let id = incoming.id.clone().into_owned();
    match Subscription::new(hub, id, accepted, incoming.peer.ended()) {
        Ok(subscription) => Step::Listening(Box::new(subscription.with_tasks(tasks))),
        Err(too_many) => {
            let reject = Reject::invalid_params(too_many.to_string());
            incoming.refuse(reject, out)
        }
    }
}

/// What of the wish can be fulfilled. subscriptions: what is not supported is omitted.
fn accepted(incoming: &Incoming<'_>, wish: &SubscriptionFilter) -> SubscriptionFilter {
    let catalog = incoming.shared.catalog();
    let caller = incoming.peer.caller();
    let offered = offered(&catalog.capabilities());
    let granted = |wanted: bool, can: bool| (wanted && can).then_some(true);
    let mut seen = HashSet::new();
    let resources: Vec<String> = wish
        .resources()
        .iter()
        .filter(|uri| catalog.resource_at(uri, caller).is_some() && seen.insert(*uri))
        .cloned()
        .collect();
    SubscriptionFilter {
        tools_list_changed: granted(wish.wants_tools(), offered.wants_tools()),
        prompts_list_changed: granted(wish.wants_prompts(), offered.wants_prompts()),
        resources_list_changed: granted(wish.wants_resources(), offered.wants_resources()),
        resource_subscriptions: (!resources.is_empty()).then_some(resources),
        task_ids: Some(task::listened(wish.tasks()))
            .filter(|tasks| catalog.runs_tasks() && !tasks.is_empty()),
    }
}

/// All lists that can be told of.
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
