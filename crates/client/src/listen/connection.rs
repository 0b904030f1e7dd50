//! Beginning to listen.

use std::sync::Arc;

use tokio::sync::oneshot;
use turnbuckle_protocol::SubscriptionFilter;

use super::{
    ChangeStream, Listen,
    change_stream::Hold,
    keeper,
    listener::Listener,
    subscriptions_listen::{self, METHOD},
    wish,
};
use crate::{CallError, Connection};

impl Connection {
    /// Listens to changes: one stream, whatever the server speaks.
    ///
    /// ```no_run
    /// use turnbuckle_client::{Change, Listen};
    /// # async fn run(server: turnbuckle_client::Connection) -> Result<(), turnbuckle_client::CallError> {
    /// let mut changes = server.listen(Listen::lists().resource("file:///a")).await?;
    /// while let Some(change) = changes.next().await.transpose()? {
    ///     match change {
    ///         Change::ToolsChanged => println!("{:?}", server.tools().await?),
    ///         Change::ResourceUpdated { uri } => println!("{uri} is another now"),
    ///         Change::Missed(why) => println!("look at everything again: {why:?}"),
    ///         _ => {}
    ///     }
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// A server that offers only a part of what is asked for tells that part:
    /// [`ChangeStream::acknowledged`] says which.
    ///
    /// # Errors
    /// [`CallError::NotOffered`] if the server offers nothing of it. A resource that it refuses is an
    /// error only if nothing else was granted.
    ///
    /// # Cancel safety
    /// Dropping the future ends the listening before it has begun, and the server is told.
    pub async fn listen(&self, listen: impl Into<Listen>) -> Result<ChangeStream, CallError> {
        let wish = listen.into().filter().clone();
        if wish.is_empty() {
            let source = serde::ser::Error::custom("nothing to listen to was named");
            return Err(CallError::unwritable(METHOD, source));
        }
        if self.link().revision().is_modern() {
            self.listen_modern(wish).await
        } else {
            self.listen_in_session(wish).await
        }
    }

    async fn listen_modern(&self, wish: SubscriptionFilter) -> Result<ChangeStream, CallError> {
        let link = self.shared_link();
        let listener = Arc::new(Listener::default());
        link.listeners.enter(&listener);
        let (begun, opened) = oneshot::channel();
        let keep = subscriptions_listen::keep(link.clone(), listener.clone(), wish.clone(), begun);
        let changes = ChangeStream {
            _hold: Hold::Task(tokio::spawn(keep).abort_handle()),
            link,
            listener,
            wish,
        };
        opened
            .await
            .unwrap_or_else(|_| Err(self.link().closed(METHOD)))?;
        changes.unless_empty()
    }

    async fn listen_in_session(&self, wish: SubscriptionFilter) -> Result<ChangeStream, CallError> {
        let link = self.shared_link();
        let capabilities = self.server().capabilities();
        if link.standing.is_silent() {
            let reason = "it has no stream to tell of changes by";
            return Err(link.not_offered(METHOD, reason));
        }
        let mut granted = wish::offered(&wish, capabilities);
        self.keep_standing();
        let resources: Vec<Arc<str>> = granted
            .resources()
            .iter()
            .map(|uri| Arc::from(&**uri))
            .collect();
        let listener = Arc::new(Listener::default());
        // Before it is subscribed to: the first change may come with the answer.
        listener.grant(granted.clone());
        link.listeners.enter(&listener);
        let number = link.standing.number();
        let asked: Vec<_> = resources
            .iter()
            .map(|uri| link.standing.want(uri, number))
            .collect();
        let changes = ChangeStream {
            _hold: Hold::Resources(link.clone(), number, resources.clone()),
            link,
            listener,
            wish,
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
            changes.listener.grant(granted);
        }
        changes.unless_empty()
    }

    /// Sees to it that what the session is to keep is kept.
    pub(crate) fn keep_standing(&self) {
        let link = self.shared_link();
        if link.standing.begin() {
            self.run(keeper::keep(link));
        }
    }
}

impl ChangeStream {
    fn unless_empty(self) -> Result<Self, CallError> {
        if self.acknowledged().is_empty() {
            let reason = "it tells of none of the changes that were asked for";
            return Err(self.link.not_offered(METHOD, reason));
        }
        Ok(self)
    }
}

fn remove(granted: &mut SubscriptionFilter, uri: &str) {
    if let Some(resources) = &mut granted.resource_subscriptions {
        resources.retain(|wanted| wanted != uri);
    }
}
