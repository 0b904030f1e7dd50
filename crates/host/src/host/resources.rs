//! Reads resources and prompts through the host, and follows changes of resources.

use std::{collections::BTreeMap, sync::Arc};

use tokio::sync::broadcast;
use turnbuckle_protocol::{
    CompleteRequestParams, Completion, GetPromptResult, ReadResourceResult, Reference,
};

use super::{Host, call::unknown, handle::denial};
use crate::{
    consent::{Action, ActionKind, AskingServer},
    error::HostError,
    fleet::Upstream,
    id::{ConversationId, ServerId},
    shown_uri::without_secrets,
};

impl Host {
    /// Reads a resource from the server that has it, as [`HostCatalog::owner`](crate::HostCatalog::owner)
    /// finds it. Returns its contents: one part or several, text or binary. The server is started
    /// if necessary.
    ///
    /// Use [`Conversation::attach`](crate::Conversation::attach) for resources that a model should see.
    ///
    /// # Errors
    /// - [`HostError::NoOwner`] if no server is known to have it; use
    ///   [`read_from`](Self::read_from).
    /// - [`HostError::Denied`] if the policy or the user does not allow it.
    /// - [`HostError::Unavailable`] if the server cannot be started.
    /// - [`HostError::Call`] if the server answers with an error, for example because there is no
    ///   such resource.
    pub async fn read(&self, uri: &str) -> Result<ReadResourceResult, HostError> {
        let server = self.owner(uri)?;
        self.read_in(None, &server, uri).await
    }

    /// Reads a resource from this server, even if the server does not list it, or another server
    /// lists the same URI.
    ///
    /// # Errors
    /// [`HostError::NoServer`] if the host has no server with this id, and otherwise the errors of
    /// [`read`](Self::read). Nothing was sent unless the error is [`HostError::Call`].
    pub async fn read_from(
        &self,
        server: impl Into<ServerId>,
        uri: &str,
    ) -> Result<ReadResourceResult, HostError> {
        self.read_in(None, &server.into(), uri).await
    }

    /// Gets a prompt by its name in the host, with these arguments. Returns its messages, which you
    /// can put into a conversation with a model.
    ///
    /// # Errors
    /// - [`HostError::Unknown`] if no server has a prompt of this name. The error has the most
    ///   similar name.
    /// - [`HostError::Denied`] and [`HostError::Unavailable`]; nothing was sent.
    /// - [`HostError::Call`] if the server rejects the request, for example because an argument is
    ///   missing.
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<GetPromptResult, HostError> {
        self.get_prompt_in(None, name, arguments).await
    }

    /// Requests completions for an argument of a prompt, to show them while the user types. `typed`
    /// is the text so far, and `filled` has the arguments that are already filled in. Returns the
    /// values that the server proposes.
    ///
    /// The policy is not asked.
    ///
    /// # Errors
    /// [`HostError`]. If the server does not support completion, this is a
    /// [`CallError::NotOffered`](turnbuckle_client::CallError::NotOffered) in [`HostError::Call`].
    pub async fn complete_prompt(
        &self,
        name: &str,
        argument: &str,
        typed: &str,
        filled: &BTreeMap<String, String>,
    ) -> Result<Completion, HostError> {
        let (upstream, prompt) = self.prompt(name)?;
        self.complete(
            &upstream,
            Reference::prompt(prompt),
            argument,
            typed,
            filled,
        )
        .await
    }

    /// Requests completions for a variable of a resource template of this server. `template` is the
    /// template as the server lists it, such as `file:///{path}`.
    ///
    /// # Errors
    /// [`HostError::NoServer`] if the host has no server with this id, and otherwise the errors of
    /// [`complete_prompt`](Self::complete_prompt).
    pub async fn complete_template(
        &self,
        server: impl Into<ServerId>,
        template: &str,
        variable: &str,
        typed: &str,
        filled: &BTreeMap<String, String>,
    ) -> Result<Completion, HostError> {
        let upstream = self.upstream(&server.into())?;
        let reference = Reference::resource(template);
        self.complete(&upstream, reference, variable, typed, filled)
            .await
    }

    /// Follows the changes of a resource until the stream is dropped, also across restarts of its
    /// server. This returns at once; the subscription is made in the background.
    ///
    /// A change may be reported when nothing changed, for example after the server was restarted.
    /// Read the resource again to see.
    ///
    /// ```no_run
    /// use turnbuckle_host::{Host, HostError, ResourceUpdate};
    ///
    /// # async fn run(host: Host) -> Result<(), HostError> {
    /// let mut updates = host.follow("file:///home/ada/notes.md")?;
    /// while let Some(ResourceUpdate::Changed) = updates.next().await {
    ///     println!("{:?}", host.read("file:///home/ada/notes.md").await?);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`HostError::NoOwner`] if no server is known to have the resource. If the server cannot
    /// report changes, this is not an error, but the stream never returns a change.
    pub fn follow(&self, uri: &str) -> Result<UpdateStream, HostError> {
        let server = self.owner(uri)?;
        let upstream = self.upstream(&server)?;
        let uri: Arc<str> = uri.into();
        let receiver = self.inner.shared.updates.subscribe();
        upstream.follow(&uri);
        Ok(UpdateStream {
            receiver,
            uri,
            upstream,
        })
    }

    pub(super) fn owner(&self, uri: &str) -> Result<ServerId, HostError> {
        let catalog = self.inner.catalog();
        let owner = catalog.owner(uri).cloned();
        owner.ok_or_else(|| HostError::NoOwner {
            uri: uri.to_owned(),
        })
    }

    pub(super) async fn read_in(
        &self,
        conversation: Option<ConversationId>,
        server: &ServerId,
        uri: &str,
    ) -> Result<ReadResourceResult, HostError> {
        let upstream = self.upstream(server)?;
        let asking = AskingServer {
            origin: &upstream.origin,
            conversation,
        };
        let consent = &self.inner.shared.consent;
        let permitted = consent.permit(asking, Action::Read { uri }).await;
        permitted
            .map_err(|denied| denial(server, ActionKind::Read, &without_secrets(uri), denied))?;
        let connection = self.connected(&upstream).await?;
        let _in_flight = upstream.origin.enter(conversation);
        let read = connection.read(uri).tag(ConversationId::tag(conversation));
        Ok(read.await?)
    }

    pub(super) async fn get_prompt_in(
        &self,
        conversation: Option<ConversationId>,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<GetPromptResult, HostError> {
        let (upstream, prompt) = self.prompt(name)?;
        let asking = AskingServer {
            origin: &upstream.origin,
            conversation,
        };
        let action = Action::GetPrompt { prompt: &prompt };
        let permitted = self.inner.shared.consent.permit(asking, action).await;
        permitted
            .map_err(|denied| denial(upstream.id(), ActionKind::GetPrompt, &prompt, denied))?;
        let connection = self.connected(&upstream).await?;
        let _in_flight = upstream.origin.enter(conversation);
        let get = connection.get(prompt.as_str(), arguments);
        Ok(get.tag(ConversationId::tag(conversation)).await?)
    }

    fn prompt(&self, name: &str) -> Result<(Arc<Upstream>, String), HostError> {
        let catalog = self.inner.catalog();
        let prompt = catalog.prompt(name).ok_or_else(|| {
            let names = catalog.prompts().iter().map(|prompt| prompt.name());
            unknown("prompt", name, names)
        })?;
        let upstream = self.upstream(prompt.server())?;
        Ok((upstream, prompt.prompt().name.clone()))
    }

    async fn complete(
        &self,
        upstream: &Upstream,
        reference: Reference,
        argument: &str,
        typed: &str,
        filled: &BTreeMap<String, String>,
    ) -> Result<Completion, HostError> {
        let params = filled.iter().fold(
            CompleteRequestParams::new(reference, argument, typed),
            |params, (name, value)| params.with_known(name, value),
        );
        let connection = self.connected(upstream).await?;
        Ok(connection.complete_with(params).await?)
    }
}

/// A change of a followed resource, from an [`UpdateStream`]. After either kind, read the resource
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResourceUpdate {
    /// The resource changed or may have changed: the server said so, or the connection to the
    /// server was interrupted.
    Changed,
    /// Some changes were lost, because the stream was not read while more than a thousand changes
    /// of resources arrived.
    Missed,
}

/// A stream of the changes of one resource, made by [`Host::follow`]. Dropping it ends the
/// subscription. It continues after restarts of the server, and reports a change after each
/// restart.
pub struct UpdateStream {
    receiver: broadcast::Receiver<(ServerId, Arc<str>)>,
    uri: Arc<str>,
    upstream: Arc<Upstream>,
}

impl UpdateStream {
    /// Returns the next change, or `None` when the host is gone.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<ResourceUpdate> {
        loop {
            match self.receiver.recv().await {
                // resources: an update may name a part of what was subscribed to.
                Ok((server, uri)) => {
                    if server == *self.upstream.id() && uri.starts_with(&*self.uri) {
                        return Some(ResourceUpdate::Changed);
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => return Some(ResourceUpdate::Missed),
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }
}

impl Drop for UpdateStream {
    fn drop(&mut self) {
        self.upstream.unfollow(&self.uri);
    }
}
