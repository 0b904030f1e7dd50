//! A conversation: the calls, grants and context that belong together.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use turnbuckle_protocol::{GetPromptResult, ReadResourceResult};

use super::{Host, HostCall};
use crate::{
    context::{self, Attachment},
    error::HostError,
    id::{ConversationId, ServerId},
};

/// A conversation of a host, made by [`Host::conversation`]. A user can allow actions for one
/// conversation, and resources are attached to it.
///
/// Use one for each chat or each task of an agent. Calls without a conversation can be allowed once
/// or always, but not "for this conversation".
///
/// Dropping it ends its grants and releases its attachments. Calls in a conversation borrow it, so
/// they end first.
#[derive(Debug)]
pub struct Conversation {
    host: Host,
    id: ConversationId,
}

impl Conversation {
    pub(super) fn new(host: Host) -> Self {
        Self {
            host,
            id: ConversationId::next(),
        }
    }

    /// The id of the conversation. Questions to the user and the audit log carry it, so that an
    /// application can tell which of its conversations they belong to.
    pub fn id(&self) -> ConversationId {
        self.id
    }

    /// The host that the conversation belongs to, for example to look at the [catalog](Host::catalog).
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Calls a tool in this conversation: grants for the conversation apply, and questions of the
    /// server carry its id. It is otherwise like [`Host::call`], with the same errors.
    pub fn call(&self, name: impl Into<String>, arguments: impl Serialize) -> HostCall<'_> {
        HostCall::new(&self.host, name.into(), &arguments).in_conversation(self.id)
    }

    /// Reads a resource in this conversation: grants for the conversation apply. To keep the
    /// resource as context for a model, use [`attach`](Self::attach).
    ///
    /// # Errors
    /// As [`Host::read`].
    pub async fn read(&self, uri: &str) -> Result<ReadResourceResult, HostError> {
        let server = self.host.owner(uri)?;
        self.host.read_in(Some(self.id), &server, uri).await
    }

    /// Gets a prompt by its name in the host, in this conversation: grants for the conversation
    /// apply.
    ///
    /// # Errors
    /// As [`Host::get_prompt`].
    pub async fn get_prompt(
        &self,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<GetPromptResult, HostError> {
        self.host
            .get_prompt_in(Some(self.id), name, arguments)
            .await
    }

    /// Reads a resource and attaches it as context. The host follows its changes, and
    /// [`context`](Self::context) reads it again if it is out of date. Returns the attachment. A
    /// resource that is already attached is read again and replaced.
    ///
    /// # Errors
    /// The errors of [`Host::read`]. In this case nothing is attached. An older attachment of the
    /// same resource stays and is stale.
    pub async fn attach(&self, uri: &str) -> Result<Arc<Attachment>, HostError> {
        let server = self.host.owner(uri)?;
        self.attach_from(server, uri).await
    }

    /// Attaches a resource of this server, even if another server lists the same URI. See
    /// [`attach`](Self::attach).
    ///
    /// # Errors
    /// The errors of [`Host::read_from`].
    pub async fn attach_from(
        &self,
        server: impl Into<ServerId>,
        uri: &str,
    ) -> Result<Arc<Attachment>, HostError> {
        let server = server.into();
        let contexts = &self.host.inner.shared.contexts;
        let reading = contexts.reading(&server, uri);
        let read = self.host.read_in(Some(self.id), &server, uri).await;
        // An older attachment that could not be read again is still out of date.
        let read = read.inspect_err(|_| contexts.updated(&server, uri))?;
        let catalog = self.host.inner.catalog();
        let mut listed = catalog.resources().iter();
        let listed = listed.find(|it| it.resource().uri == uri && *it.server() == server);
        let listed = listed.map(|listed| &**listed);
        let uri: Arc<str> = uri.into();
        let attachment = Attachment::new(server.clone(), uri.clone(), read.contents, listed);
        let attachment = Arc::new(attachment);
        let was_there = contexts.put(self.id, attachment.clone(), &reading);
        if !was_there && let Some(upstream) = self.host.inner.fleet.find(&server) {
            upstream.follow(&uri);
        }
        Ok(attachment)
    }

    /// Detaches a resource, and stops following its changes. Returns whether it was attached. If
    /// resources of two servers with the same URI are attached, the one that was attached first is
    /// detached.
    pub fn detach(&self, uri: &str) -> bool {
        let taken = self.host.inner.shared.contexts.take(self.id, uri);
        taken.is_some_and(|attachment| {
            self.unfollow(&attachment);
            true
        })
    }

    /// The attached resources, in the order in which they were attached, with the contents as they
    /// were read. This reads nothing; [`context`](Self::context) does.
    pub fn attachments(&self) -> Vec<Arc<Attachment>> {
        self.host.inner.shared.contexts.of(self.id)
    }

    /// Returns the attached resources to give to a model within a budget of about `max_tokens`
    /// tokens: only resources that are meant for a model, the most important first. A resource is
    /// returned whole or not at all; one that does not fit is skipped, and smaller ones after it
    /// may still fit. Tokens are estimated at four bytes each.
    ///
    /// Resources that changed are read again. If a resource can no longer be read, its old contents
    /// are returned.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the attachments as they are.
    pub async fn context(&self, max_tokens: u64) -> Vec<Arc<Attachment>> {
        for attachment in self.attachments() {
            if attachment.is_stale()
                && let Err(error) = self
                    .attach_from(attachment.server.clone(), &attachment.uri)
                    .await
            {
                let error = turnbuckle_base::error_chain::in_one_line(&error);
                tracing::debug!(
                    uri = &*attachment.uri,
                    error,
                    "cannot read a resource again"
                );
            }
        }
        context::choose(self.attachments(), max_tokens)
    }

    fn unfollow(&self, attachment: &Attachment) {
        if let Some(upstream) = self.host.inner.fleet.find(&attachment.server) {
            upstream.unfollow(&attachment.uri);
        }
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        let shared = &self.host.inner.shared;
        shared.consent.grants.end(self.id);
        for attachment in shared.contexts.end(self.id) {
            self.unfollow(&attachment);
        }
    }
}
