//! `Connection::listen`: subscribes to changes.

use std::sync::Arc;

use tokio::sync::oneshot;
use turnbuckle_protocol::SubscriptionFilter;

use super::{
    ChangeStream,
    change_stream::SubscriptionGuard,
    reconcile::reconcile,
    subscriptions_listen::{self, METHOD},
};
use crate::{
    connection::Connection,
    error::CallError,
    subscription::{ChangeQueue, Listen, offered},
};

impl Connection {
    /// Subscribes to changes of lists and resources, as the server's revision defines it, and returns a
    /// stream of the changes.
    ///
    /// ```no_run
    /// use turnbuckle_client::{Change, Listen};
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// let mut changes = server.listen(Listen::lists().resource("file:///a")).await?;
    /// while let Some(change) = changes.next().await.transpose()? {
    ///     match change {
    ///         Change::ToolsChanged => println!("{:?}", server.tools().await?),
    ///         Change::ResourceUpdated { uri, .. } => println!("{uri} is another now"),
    ///         Change::Missed(why) => println!("look at everything again: {why:?}"),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// If the server supports only a part of the requested subscriptions, only that part is reported:
    /// see [`ChangeStream::acknowledged`].
    ///
    /// # Errors
    /// [`CallError::NotOffered`] if the server supports none of the requested subscriptions. A resource
    /// that the server refuses is an error only if nothing else was granted.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the subscription at the server.
    pub async fn listen(&self, listen: impl Into<Listen>) -> Result<ChangeStream, CallError> {
        let wanted = listen.into().filter().clone();
        if wanted.is_empty() {
            let source = serde::ser::Error::custom(
                "the filter is empty; name at least one list or resource",
            );
            return Err(CallError::unwritable(METHOD, source));
        }
        if self.link().revision().is_modern() {
            self.listen_modern(wanted).await
        } else {
            self.listen_in_session(wanted).await
        }
    }

    async fn listen_modern(&self, wanted: SubscriptionFilter) -> Result<ChangeStream, CallError> {
        let link = self.shared_link();
        let queue = Arc::new(ChangeQueue::default());
        link.changes.enter(&queue);
        let (begun, opened) = oneshot::channel();
        let keep = subscriptions_listen::keep(link.clone(), queue.clone(), wanted.clone(), begun);
        let changes = ChangeStream {
            _guard: SubscriptionGuard::Task(tokio::spawn(keep).abort_handle()),
            link,
            queue,
            wanted,
        };
        opened
            .await
            .unwrap_or_else(|_| Err(self.link().closed(METHOD)))?;
        changes.unless_empty()
    }

    async fn listen_in_session(
        &self,
        wanted: SubscriptionFilter,
    ) -> Result<ChangeStream, CallError> {
        let link = self.shared_link();
        let capabilities = self.server().capabilities();
        if link.desired.is_silent() {
            let reason = "it has no stream of notifications";
            return Err(link.not_offered(METHOD, reason));
        }
        let mut granted = offered(&wanted, capabilities);
        self.keep_session();
        let resources: Vec<Arc<str>> = granted
            .resources()
            .iter()
            .map(|uri| Arc::from(&**uri))
            .collect();
        let queue = Arc::new(ChangeQueue::default());
        // Registered before it is subscribed: the first change may come with the answer.
        queue.grant(granted.clone());
        link.changes.enter(&queue);
        let number = link.desired.number();
        let asked: Vec<_> = resources
            .iter()
            .map(|uri| link.desired.want(uri, number))
            .collect();
        let changes = ChangeStream {
            _guard: SubscriptionGuard::Resources(link.clone(), number, resources.clone()),
            link,
            queue,
            wanted,
        };
        let mut first_refusal = None;
        for (uri, asked) in resources.iter().zip(asked) {
            let refusal = match asked.await {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error,
                Err(_) => self.link().closed(METHOD),
            };
            remove(&mut granted, uri);
            first_refusal.get_or_insert(refusal);
        }
        if let Some(refusal) = first_refusal {
            if granted.is_empty() {
                return Err(refusal);
            }
            changes.queue.grant(granted);
        }
        changes.unless_empty()
    }

    /// Starts the task that brings the session to its desired state, if it does not run yet.
    pub(crate) fn keep_session(&self) {
        let link = self.shared_link();
        if link.desired.begin() {
            self.run(reconcile(link));
        }
    }
}

impl ChangeStream {
    fn unless_empty(self) -> Result<Self, CallError> {
        if self.acknowledged().is_empty() {
            let reason = "it reports none of the requested changes";
            return Err(self.link.not_offered(METHOD, reason));
        }
        Ok(self)
    }
}

fn remove(granted: &mut SubscriptionFilter, uri: &str) {
    if let Some(resources) = &mut granted.resource_subscriptions {
        resources.retain(|granted| granted != uri);
    }
}
