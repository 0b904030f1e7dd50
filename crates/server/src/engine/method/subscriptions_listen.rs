//! `subscriptions/listen`: notifies a client of changes while the request is open.

use std::collections::HashSet;

use turnbuckle_protocol::{
    ServerCapabilities, SubscriptionFilter, SubscriptionsListenRequestParams, TASKS_EXTENSION,
};

use crate::{
    Reject,
    engine::{
        Incoming, RelayedTasks, Served, Shared, Sink, Subscription, TaskNews, target::unreadable,
        task,
    },
    relay::{ClientChannel, RelayTasks, RelayedRequest},
};

pub(super) fn serve(shared: &Shared, incoming: &Incoming<'_>, out: &mut impl Sink) -> Served {
    match open(shared, incoming) {
        Ok(subscription) => Served::Listening(Box::new(subscription)),
        Err(reject) => {
            incoming.refuse(reject, out);
            Served::Done
        }
    }
}

fn open(shared: &Shared, incoming: &Incoming<'_>) -> Result<Subscription, Reject> {
    let params: SubscriptionsListenRequestParams = incoming
        .params
        .parse()
        .map_err(|error| unreadable(&error))?;
    let wants_tasks = !params.notifications.tasks().is_empty();
    let runner = shared.task_runner(incoming.caller());
    // tasks: a client that subscribes to tasks MUST declare the extension.
    if wants_tasks
        && !incoming.declares(TASKS_EXTENSION)
        && (runner.is_some() || relays_tasks(shared, incoming))
    {
        return Err(task::undeclared());
    }
    let mut accepted = accepted(shared, incoming, &params.notifications);
    let guard = shared.relay.as_ref().and_then(|relay| {
        let listen = relay.listen(&relayed(incoming), &params.notifications);
        merge(&mut accepted, listen.accepted);
        listen.guard
    });
    let id = incoming.id.clone().into_owned();
    let tasks = accepted.task_ids.clone().zip(runner);
    let relayed = match (&tasks, wants_tasks && incoming.declares(TASKS_EXTENSION)) {
        (None, true) => relayed_tasks(shared, incoming, params.notifications.tasks()),
        _ => None,
    };
    if let Some(relayed) = &relayed {
        accepted.task_ids = Some(relayed.ids.clone()).filter(|ids| !ids.is_empty());
    }
    let hub = shared.context.changes.hub();
    let (key, ended) = (incoming.peer.quota_key(), incoming.peer.ended());
    let notices = shared.notices_of(incoming.caller());
    let subscription = Subscription::new(hub, id.clone(), accepted, key, notices, ended)?;
    let tasks = match (tasks, relayed) {
        (Some((tasks, runner)), _) => {
            Some(runner.listen(incoming.caller(), id, incoming.revision, &tasks))
        }
        (None, Some(relayed)) => {
            let news: Box<dyn TaskNews> = Box::new(RelayedTasks::new(relayed.news, id));
            Some(news)
        }
        (None, None) => None,
    };
    Ok(subscription.with_tasks(tasks).with_guard(guard))
}

/// Whether there is a relay with tasks.
fn relays_tasks(shared: &Shared, incoming: &Incoming<'_>) -> bool {
    let offer = shared.relay.as_ref().map(|it| it.offer(incoming.caller()));
    let extensions = offer.and_then(|offer| offer.capabilities.extensions);
    extensions.is_some_and(|all| all.contains_key(TASKS_EXTENSION))
}

/// The tasks that a relay follows for the client.
fn relayed_tasks(
    shared: &Shared,
    incoming: &Incoming<'_>,
    wanted: &[String],
) -> Option<RelayTasks> {
    let relay = shared.relay.as_ref()?;
    relay.listen_tasks(&relayed(incoming), wanted)
}

/// Converts the request for a relay.
fn relayed<'a>(incoming: &'a Incoming<'_>) -> RelayedRequest<'a> {
    RelayedRequest {
        method: incoming.method,
        params: incoming.params,
        revision: incoming.revision,
        peer: incoming.peer,
        channel: ClientChannel::new(incoming.peer, incoming.revision),
        note: None,
    }
}

/// The part of the filter that the server supports. subscriptions: unsupported parts are omitted.
fn accepted(
    shared: &Shared,
    incoming: &Incoming<'_>,
    wanted: &SubscriptionFilter,
) -> SubscriptionFilter {
    let catalog = shared.catalog();
    let caller = incoming.caller();
    let offer = catalog.offer(caller);
    let offered = offered(&offer.capabilities());
    let granted = |is_wanted: bool, can: bool| (is_wanted && can).then_some(true);
    let mut seen = HashSet::new();
    let resources: Vec<String> = wanted
        .resources()
        .iter()
        .filter(|uri| catalog.resource_at(uri, caller).is_some() && seen.insert(*uri))
        .cloned()
        .collect();
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = granted(wanted.wants_tools(), offered.wants_tools());
    filter.prompts_list_changed = granted(wanted.wants_prompts(), offered.wants_prompts());
    filter.resources_list_changed = granted(wanted.wants_resources(), offered.wants_resources());
    filter.resource_subscriptions = (!resources.is_empty()).then_some(resources);
    filter.task_ids =
        Some(task::listened(wanted.tasks())).filter(|tasks| offer.tasks && !tasks.is_empty());
    filter
}

/// Adds the part that a relay accepts.
fn merge(own: &mut SubscriptionFilter, relayed: SubscriptionFilter) {
    let either = |own: Option<bool>, relayed: Option<bool>| own.or(relayed);
    own.tools_list_changed = either(own.tools_list_changed, relayed.tools_list_changed);
    own.prompts_list_changed = either(own.prompts_list_changed, relayed.prompts_list_changed);
    own.resources_list_changed = either(own.resources_list_changed, relayed.resources_list_changed);
    for uri in relayed.resource_subscriptions.unwrap_or_default() {
        let known = own.resource_subscriptions.get_or_insert_default();
        if !known.contains(&uri) {
            known.push(uri);
        }
    }
}

/// A filter with all lists whose changes the server reports.
pub(super) fn offered(can: &ServerCapabilities) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = can.tools.as_ref().and_then(|all| all.list_changed);
    filter.prompts_list_changed = can.prompts.as_ref().and_then(|all| all.list_changed);
    filter.resources_list_changed = can.resources.as_ref().and_then(|all| all.list_changed);
    filter
}
