//! All the listeners of a connection, and which of them a message is for.

use std::sync::{Arc, Weak};

use serde::Deserialize;
use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::{
    CancelledNotificationParams, Id, Meta, SubscriptionsAcknowledgedNotificationParams,
    envelope::Members,
};

use super::{Change, Missed, listener::Listener};
use crate::{CallError, News};

/// The listeners of a connection.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    listeners: Vec<Weak<Listener>>,
    is_closed: bool,
}

impl Listeners {
    /// Tells this one of changes too, from now on.
    pub(super) fn enter(&self, listener: &Arc<Listener>) {
        let mut inner = self.inner.lock();
        if inner.is_closed {
            listener.close();
        }
        inner.listeners.retain(|other| other.strong_count() > 0);
        inner.listeners.push(Arc::downgrade(listener));
    }

    /// Hands a piece of news to those it is for.
    pub(crate) fn hear(&self, news: &News, params: &Members<'_>) {
        let listeners = self.all();
        if listeners.is_empty() {
            return;
        }
        let Some(change) = Change::of(news) else {
            return;
        };
        let id = subscription_id(params);
        let fits: Vec<_> = listeners
            .iter()
            .map(|listener| listener.fit(&change, id.as_ref()))
            .collect();
        let Some(best) = fits.iter().flatten().max().copied() else {
            return;
        };
        for (listener, fit) in listeners.iter().zip(fits) {
            if fit == Some(best) {
                listener.tell(change.clone());
            }
        }
    }

    /// Takes `notifications/subscriptions/acknowledged`.
    pub(crate) fn acknowledge(&self, params: &Members<'_>) {
        let Ok(acknowledged) = params.parse::<SubscriptionsAcknowledgedNotificationParams>() else {
            return;
        };
        let id = acknowledged.meta.as_ref().and_then(Meta::subscription_id);
        for listener in self.all() {
            listener.acknowledge(id.as_ref(), &acknowledged.notifications);
        }
    }

    /// Takes `notifications/cancelled`, by which a server ends a subscription; says whether it was
    /// that.
    pub(crate) fn dismiss(&self, cancelled: &CancelledNotificationParams) -> bool {
        let Some(id) = &cancelled.request_id else {
            return false;
        };
        let listeners = self.all();
        listeners.iter().any(|listener| listener.dismiss(id))
    }

    /// The server was not heard for a while.
    pub(crate) fn missed(&self) {
        for listener in self.all() {
            listener.tell(Change::Missed(Missed::Reopened));
        }
    }

    /// Nothing more can be heard by any of them.
    pub(crate) fn fail(&self, error: impl Fn() -> CallError) {
        for listener in self.all() {
            listener.fail(error());
        }
    }

    /// Those who want to hear of a resource can hear of it no more.
    pub(super) fn fail_resource(&self, uri: &str, error: impl Fn() -> CallError) {
        for listener in self.all() {
            let granted = listener.granted();
            if granted.resources().iter().any(|wanted| wanted == uri) {
                listener.fail(error());
            }
        }
    }

    /// The connection is over.
    pub(crate) fn close(&self) {
        self.inner.lock().is_closed = true;
        for listener in self.all() {
            listener.close();
        }
    }

    fn all(&self) -> Vec<Arc<Listener>> {
        let inner = self.inner.lock();
        inner.listeners.iter().filter_map(Weak::upgrade).collect()
    }
}

/// subscriptions: what comes on a subscription carries the id of the request that opened it.
fn subscription_id(params: &Members<'_>) -> Option<Id> {
    #[derive(Deserialize)]
    struct Peek {
        #[serde(rename = "io.modelcontextprotocol/subscriptionId")]
        id: Option<Id>,
    }

    let meta = params.get("_meta")?;
    serde_json::from_str::<Peek>(meta.get()).ok()?.id
}
