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

/// A conversation of a host: the unit for which a user can allow something, and to which resources
/// are attached. Made by [`Host::conversation`].
///
/// When it is dropped, its grants end and its attachments are released.
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

    /// Its id. Questions to the user and the audit log carry it.
    pub fn id(&self) -> ConversationId {
        self.id
    }

    /// The host it belongs to.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Calls a tool in this conversation: grants for the conversation apply. See [`Host::call`].
    pub fn call(&self, name: impl Into<String>, arguments: impl Serialize) -> HostCall<'_> {
        HostCall::new(&self.host, name.into(), &arguments).in_conversation(self.id)
    }

    /// Reads a resource in this conversation: grants for the conversation apply.
    ///
    /// # Errors
    /// As [`Host::read`].
    pub async fn read(&self, uri: &str) -> Result<ReadResourceResult, HostError> {
        let server = self.host.owner(uri)?;
        self.host.read_in(Some(self.id), &server, uri).await
    }

    /// Gets a prompt in this conversation: grants for the conversation apply.
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

    /// Reads a resource and attaches it as context. Its changes are followed, and
    /// [`context`](Self::context) reads it again if it is out of date. Returns what was read.
    ///
    /// # Errors
    /// As [`Host::read`].
    pub async fn attach(&self, uri: &str) -> Result<Arc<Attachment>, HostError> {
        let server = self.host.owner(uri)?;
        self.attach_from(server, uri).await
    }

    /// Attaches a resource of this server, also if another server lists the same URI. See
    /// [`attach`](Self::attach).
    ///
    /// # Errors
    /// As [`Host::read_from`].
    pub async fn attach_from(
        &self,
        server: impl Into<ServerId>,
        uri: &str,
    ) -> Result<Arc<Attachment>, HostError> {
        let server = server.into();
        let contexts = &self.host.inner.shared.contexts;
        contexts.reading(self.id, &server, uri);
        let read = self.host.read_in(Some(self.id), &server, uri).await;
        // What could not be read is still out of date.
        let read = read.inspect_err(|_| contexts.updated(&server, uri))?;
        let catalog = self.host.inner.catalog();
        let mut listed = catalog.resources().iter();
        let listed = listed.find(|it| it.resource().uri == uri && *it.server() == server);
        let listed = listed.map(|listed| &**listed);
        let uri: Arc<str> = uri.into();
        let attachment = Attachment::new(server.clone(), uri.clone(), read.contents, listed);
        let attachment = Arc::new(attachment);
        let was_there = contexts.put(self.id, attachment.clone());
        if !was_there && let Some(upstream) = self.host.inner.fleet.find(&server) {
            upstream.follow(&uri);
        }
        Ok(attachment)
    }

    /// Detaches a resource. Returns whether it was attached.
    pub fn detach(&self, uri: &str) -> bool {
        let taken = self.host.inner.shared.contexts.take(self.id, uri);
        taken.is_some_and(|attachment| {
            self.unfollow(&attachment);
            true
        })
    }

    /// The attached resources, in the order in which they were attached.
    pub fn attachments(&self) -> Vec<Arc<Attachment>> {
        self.host.inner.shared.contexts.of(self.id)
    }

    /// The attached resources to give to a model within a budget of about `max_tokens` tokens:
    /// those that are meant for a model, the most important first. Resources that changed are read
    /// again; one that can no longer be read is returned with its old contents.
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
