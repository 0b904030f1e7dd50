//! `Changes`: notifies listeners of changes.

use std::sync::Arc;

use turnbuckle_protocol::{Meta, ResourceUpdatedNotificationParams};
use turnbuckle_store::{Change, Fanout};

use super::{Hub, ListenerLimits, publisher::Publisher};
use crate::quota::{CallerKey, Quota};

/// The maximum size of the params of one update. They are kept for listeners that do not read.
const MAX_UPDATE_BYTES: usize = 4096;

/// Notifies clients that something changed.
///
/// In sessions (up to 2025-11-25) clients are notified of changed lists and of the resources that
/// they subscribed to with `resources/subscribe`. Open `subscriptions/listen` requests (since
/// 2026-07-28) are notified of the changes that they asked for. This includes clients of other
/// processes that share the [fan-out](crate::Server::fanout). The methods never wait, and can be
/// called from any thread. A slow listener gets one notification for many changes.
///
/// A handler takes it as an extractor; other code gets it from
/// [`LiveServer::changes`](crate::LiveServer::changes).
///
/// ```
/// use turnbuckle_server::{Resource, Server};
///
/// let server = Server::new("clock", "1.0.0")
///     .resource(Resource::new("clock://now", async || "noon"))
///     .build()?;
/// let changes = server.changes();
/// std::thread::spawn(move || changes.resource("clock://now"));
/// # Ok::<(), turnbuckle_server::SetupError>(())
/// ```
#[derive(Clone)]
pub struct Changes {
    publisher: Arc<Publisher>,
    /// If set, only this caller is notified.
    only: Option<CallerKey>,
}

impl Changes {
    /// Publishes changes with this fan-out, to at most as many listeners as `limits` allows. Their
    /// subscriptions count against the memory quota `kept`.
    pub(crate) fn new(fanout: Arc<dyn Fanout>, limits: ListenerLimits, kept: Arc<Quota>) -> Self {
        Self {
            publisher: Arc::new(Publisher::new(fanout, limits, kept)),
            only: None,
        }
    }

    /// The listeners of this process.
    pub(crate) fn hub(&self) -> &Arc<Hub> {
        self.publisher.hub()
    }

    pub(crate) fn publish(&self, change: Change) {
        match self.only {
            None => self.publisher.publish(change),
            Some(caller) => self.hub().hear_for(&change, caller),
        }
    }

    /// Notifies only this caller, and only in this process.
    pub(crate) fn only_for(&self, caller: CallerKey) -> Self {
        Self {
            publisher: Arc::clone(&self.publisher),
            only: Some(caller),
        }
    }

    /// Reports that the contents of the resource at this URI changed. Clients that subscribed to it
    /// are notified, and read it again.
    pub fn resource(&self, uri: impl Into<String>) {
        self.publish(Change::Resource(uri.into()));
    }

    /// Reports an update of a resource with more than its URI: with `_meta`, and with members that
    /// the specification leaves open, such as a `title`. A slow listener gets only the newest of
    /// several reports.
    ///
    /// ```
    /// # fn run(changes: turnbuckle_server::Changes) {
    /// use turnbuckle_protocol::ResourceUpdatedNotificationParams;
    ///
    /// let mut updated = ResourceUpdatedNotificationParams::new("note://one");
    /// updated.other.insert("title", "Shopping list");
    /// changes.updated(updated);
    /// # }
    /// ```
    ///
    /// If the params are longer than 4 KiB, only the URI is sent, and `_meta` is left out if the
    /// specification does not allow its keys. Both are logged.
    pub fn updated(&self, mut params: ResourceUpdatedNotificationParams) {
        if let Some(key) = params.meta.as_ref().and_then(Meta::invalid_key) {
            tracing::error!(
                key,
                "left out `_meta` of an update: a key in it is not valid"
            );
            params.meta = None;
        }
        let uri = params.uri.clone();
        match serde_json::to_string(&params) {
            Ok(params) => self.publish_update(vec![uri], params),
            Err(_) => self.resource(uri),
        }
    }

    /// Passes an update from another server on to the listeners of these resources. The params are
    /// JSON, and are sent unchanged. Each listener is notified once, even if it listens to several
    /// of the resources.
    pub fn pass_on_update(&self, resources: Vec<String>, params: &str) {
        self.publish_update(resources, params.to_owned());
    }

    fn publish_update(&self, resources: Vec<String>, params: String) {
        if params.len() > MAX_UPDATE_BYTES {
            let uri = resources.first();
            tracing::warn!(
                uri,
                "an update is longer than {MAX_UPDATE_BYTES} bytes; only its URI is sent"
            );
            return resources.into_iter().for_each(|uri| self.resource(uri));
        }
        self.publish(Change::Updated { resources, params });
    }

    /// Reports that the list of tools changed, or may look different to some callers. The
    /// [catalog](crate::Catalog) reports its own changes. Call it when the result of
    /// [`Tool::visible`](crate::Tool::visible) has changed.
    pub fn tools(&self) {
        self.publish(Change::Tools);
    }

    /// Reports that the list of prompts changed, or may look different to some callers.
    pub fn prompts(&self) {
        self.publish(Change::Prompts);
    }

    /// Reports that the lists of resources and templates changed, or may look different to some
    /// callers. Call it when what [`Resource::list`](crate::Resource::list) returns has changed.
    pub fn resources(&self) {
        self.publish(Change::Resources);
    }

    /// Reports that the user has completed the elicitation by URL with this [id](crate::Visit::id)
    /// (`notifications/elicitation/complete`).
    ///
    /// The client that was asked is notified if it speaks 2025-11-25 and is still connected to any
    /// replica; other clients are not. Clients of later revisions are not notified: they call
    /// again.
    pub fn elicitation_completed(&self, id: impl Into<String>) {
        self.publish(Change::Visit(id.into()));
    }

    /// Reports that anything may have changed: every listener is notified of everything it listens
    /// to. Use it after a reload.
    pub fn everything(&self) {
        self.publish(Change::Everything);
    }
}
