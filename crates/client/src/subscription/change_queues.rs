//! The queues of all streams of changes of a connection, and the routing of notifications.

use std::sync::{Arc, Weak};

use serde::{Deserialize, de::DeserializeOwned};
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{
    CancelledNotificationParams, Id, JsonObject, Meta, SubscriptionFilter,
    SubscriptionsAcknowledgedNotificationParams, envelope::Members,
};

use super::{Change, ChangeQueue, Missed};
use crate::{error::CallError, notifications::ServerNotification};

/// The queues of all streams of changes of a connection.
#[derive(Debug, Default)]
pub(crate) struct ChangeQueues {
    open: Mutex<OpenQueues>,
}

#[derive(Debug, Default)]
struct OpenQueues {
    queues: Vec<Weak<ChangeQueue>>,
    is_closed: bool,
}

impl ChangeQueues {
    /// Adds a queue, which gets all changes from now on.
    pub(crate) fn enter(&self, queue: &Arc<ChangeQueue>) {
        let mut open = self.open.lock();
        if open.is_closed {
            queue.close();
        }
        open.queues.retain(|other| other.strong_count() > 0);
        open.queues.push(Arc::downgrade(queue));
    }

    /// Passes a notification to the streams that it fits.
    pub(crate) fn hear(&self, news: &ServerNotification, params: &Members<'_>) {
        let queues = self.all();
        if queues.is_empty() {
            return;
        }
        let Some(change) = Change::of(news) else {
            return;
        };
        let id = subscription_id(params);
        let fits: Vec<_> = queues
            .iter()
            .map(|queue| queue.fit(&change, id.as_ref()))
            .collect();
        let Some(best) = fits.iter().flatten().max().copied() else {
            return;
        };
        for (queue, fit) in queues.iter().zip(fits) {
            if fit == Some(best) {
                queue.tell(change.clone());
            }
        }
    }

    /// Handles `notifications/subscriptions/acknowledged`. `before` is called before a reader is told
    /// that its subscription was opened again.
    pub(crate) fn acknowledge(&self, params: &Members<'_>, before: impl Fn()) {
        let Ok(acknowledged) = params.parse::<SubscriptionsAcknowledgedNotificationParams>() else {
            return self.acknowledge_odd(params, &before);
        };
        let id = acknowledged.meta.as_ref().and_then(Meta::subscription_id);
        for queue in self.all() {
            let granted = |_: &_| acknowledged.notifications.clone();
            queue.acknowledge(id.as_ref(), granted, &before);
        }
    }

    /// Handles an acknowledgement that cannot be parsed as a whole. Its invalid members count as
    /// acknowledged, because the subscription exists and its notifications are unaffected.
    #[cold]
    fn acknowledge_odd(&self, params: &Members<'_>, before: &impl Fn()) {
        let said = params.get("notifications");
        let said = said.and_then(|said| serde_json::from_str::<JsonObject>(said.get()).ok());
        let id = subscription_id(params);
        for queue in self.all() {
            let granted = |asked: &_| odd_grant(said.as_ref(), asked);
            queue.acknowledge(id.as_ref(), granted, before);
        }
    }

    /// Handles `notifications/cancelled`, with which a server ends a subscription. Returns whether the
    /// notification was for a subscription.
    pub(crate) fn dismiss(&self, cancelled: &CancelledNotificationParams) -> bool {
        let Some(id) = &cancelled.request_id else {
            return false;
        };
        let queues = self.all();
        queues.iter().any(|queue| queue.dismiss(id))
    }

    /// Tells all streams that the connection was interrupted.
    pub(crate) fn missed(&self) {
        for queue in self.all() {
            queue.tell(Change::Missed(Missed::Reopened));
        }
    }

    /// Ends all streams with an error.
    pub(crate) fn fail(&self, error: impl Fn() -> CallError) {
        for queue in self.all() {
            queue.fail(error());
        }
    }

    /// Ends the streams that listen to a resource, because it cannot be subscribed to any more.
    pub(crate) fn fail_resource(&self, uri: &str, error: impl Fn() -> CallError) {
        for queue in self.all() {
            let granted = queue.granted();
            if granted.resources().iter().any(|wanted| wanted == uri) {
                queue.fail(error());
            }
        }
    }

    /// Ends all streams, because the connection has ended.
    pub(crate) fn close(&self) {
        self.open.lock().is_closed = true;
        for queue in self.all() {
            queue.close();
        }
    }

    fn all(&self) -> Vec<Arc<ChangeQueue>> {
        let open = self.open.lock();
        open.queues.iter().filter_map(Weak::upgrade).collect()
    }
}

fn odd_grant(said: Option<&JsonObject>, asked: &SubscriptionFilter) -> SubscriptionFilter {
    fn member<T: DeserializeOwned + Clone>(
        said: &JsonObject,
        name: &str,
        asked: Option<&T>,
    ) -> Option<T> {
        let granted = Option::<T>::deserialize(said.get(name)?);
        granted.unwrap_or_else(|_| asked.cloned())
    }

    let Some(said) = said else {
        return asked.clone();
    };
    let flag = |name, asked: Option<bool>| member(said, name, asked.as_ref());
    let texts = |name, asked: Option<&Vec<String>>| member(said, name, asked);
    let mut granted = SubscriptionFilter::new();
    granted.tools_list_changed = flag("toolsListChanged", asked.tools_list_changed);
    granted.prompts_list_changed = flag("promptsListChanged", asked.prompts_list_changed);
    granted.resources_list_changed = flag("resourcesListChanged", asked.resources_list_changed);
    granted.resource_subscriptions = texts(
        "resourceSubscriptions",
        asked.resource_subscriptions.as_ref(),
    );
    granted.task_ids = texts("taskIds", asked.task_ids.as_ref());
    granted
}

/// subscriptions: notifications of a subscription carry the id of the request that opened it.
pub(crate) fn subscription_id(params: &Members<'_>) -> Option<Id> {
    #[derive(Deserialize)]
    struct SubscriptionMeta {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
        id: Option<Id>,
    }

    let meta = params.get("_meta")?;
    serde_json::from_str::<SubscriptionMeta>(meta.get())
        .ok()?
        .id
}
