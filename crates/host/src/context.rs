//! Resources that are attached to a conversation as context for a model.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use turnbuckle_base::lock::Mutex;
use turnbuckle_protocol::ResourceContents;

use crate::{
    catalog::{CatalogResource, tokens},
    id::{ConversationId, ServerId},
};

/// A resource that is attached to a conversation as context for a model.
///
/// You get one from [`Conversation::attach`](crate::Conversation::attach). It holds the contents as
/// they were when the resource was read; [`is_stale`](Self::is_stale) tells whether they are out of
/// date.
#[derive(Debug)]
#[non_exhaustive]
pub struct Attachment {
    /// The server that the resource comes from, by the id that the host gave it.
    pub server: ServerId,
    /// Its URI.
    pub uri: Arc<str>,
    /// The contents when it was read: one part or several, text or binary.
    pub contents: Vec<ResourceContents>,
    /// An estimate of how many tokens of a model the contents take: their bytes divided by four,
    /// rounded up.
    pub tokens: u64,
    /// The priority from the annotations of the resource, from 0 to 1; 0.5 without one.
    /// [`Conversation::context`](crate::Conversation::context) returns the highest first.
    pub priority: f64,
    /// Whether the resource is meant for a model, by the audience in its annotations; true without
    /// an audience. [`Conversation::context`](crate::Conversation::context) leaves out the others.
    pub is_for_model: bool,
    /// Whether the resource has changed since it was read.
    is_stale: AtomicBool,
}

impl Attachment {
    pub(crate) fn new(
        server: ServerId,
        uri: Arc<str>,
        contents: Vec<ResourceContents>,
        listed: Option<&CatalogResource>,
    ) -> Self {
        let bytes: usize = contents.iter().map(size).sum();
        Self {
            server,
            uri,
            tokens: tokens(bytes as u64),
            priority: listed.map_or(0.5, CatalogResource::priority),
            is_for_model: listed.is_none_or(CatalogResource::is_for_model),
            contents,
            is_stale: AtomicBool::new(false),
        }
    }

    /// Whether the server has reported a change since the contents were read.
    /// [`Conversation::context`](crate::Conversation::context) reads stale attachments again.
    pub fn is_stale(&self) -> bool {
        self.is_stale.load(Ordering::Acquire)
    }

    /// The text of all parts, concatenated. Binary parts are left out; read
    /// [`contents`](Self::contents) for them.
    pub fn text(&self) -> String {
        let texts = self.contents.iter().filter_map(|contents| match contents {
            ResourceContents::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

fn size(contents: &ResourceContents) -> usize {
    match contents {
        ResourceContents::Text(text) => text.text.len(),
        // In base64, four characters encode three bytes.
        ResourceContents::Blob(blob) => blob.blob.len() / 4 * 3,
        _ => 0,
    }
}

/// A resource that is being read. If the server reports a change meanwhile, the contents may be out
/// of date. Dropping this value ends the reading.
pub(crate) struct Reading<'a> {
    contexts: &'a Contexts,
    of: Arc<BeingRead>,
}

#[derive(Debug)]
struct BeingRead {
    server: ServerId,
    uri: Arc<str>,
    has_changed: AtomicBool,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut inner = self.contexts.inner.lock();
        inner.being_read.retain(|it| !Arc::ptr_eq(it, &self.of));
    }
}

/// The attachments of all conversations.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    inner: Mutex<ContextsInner>,
}

#[derive(Debug, Default)]
struct ContextsInner {
    attached: HashMap<ConversationId, Vec<Arc<Attachment>>>,
    being_read: Vec<Arc<BeingRead>>,
}

impl Contexts {
    pub(crate) fn of(&self, conversation: ConversationId) -> Vec<Arc<Attachment>> {
        let inner = self.inner.lock();
        inner
            .attached
            .get(&conversation)
            .cloned()
            .unwrap_or_default()
    }

    /// Call this before reading a resource, and pass the result to [`put`](Self::put). An
    /// attachment whose resource changed while it was read is stale from the beginning.
    pub(crate) fn reading(&self, server: &ServerId, uri: &str) -> Reading<'_> {
        let of = Arc::new(BeingRead {
            server: server.clone(),
            uri: uri.into(),
            has_changed: AtomicBool::new(false),
        });
        self.inner.lock().being_read.push(of.clone());
        Reading { contexts: self, of }
    }

    /// Adds an attachment, replacing an older one of the same resource. Returns whether there was one.
    pub(crate) fn put(
        &self,
        conversation: ConversationId,
        new: Arc<Attachment>,
        reading: &Reading<'_>,
    ) -> bool {
        let mut inner = self.inner.lock();
        if reading.of.has_changed.load(Ordering::Acquire) {
            new.is_stale.store(true, Ordering::Release);
        }
        let all = inner.attached.entry(conversation).or_default();
        let is_same = |it: &&mut Arc<Attachment>| it.uri == new.uri && it.server == new.server;
        if let Some(old) = all.iter_mut().find(is_same) {
            *old = new;
            return true;
        }
        all.push(new);
        false
    }

    pub(crate) fn take(&self, conversation: ConversationId, uri: &str) -> Option<Arc<Attachment>> {
        let mut inner = self.inner.lock();
        let all = inner.attached.get_mut(&conversation)?;
        let index = all.iter().position(|it| *it.uri == *uri)?;
        Some(all.remove(index))
    }

    pub(crate) fn end(&self, conversation: ConversationId) -> Vec<Arc<Attachment>> {
        let ended = self.inner.lock().attached.remove(&conversation);
        ended.unwrap_or_default()
    }

    /// Marks attachments as stale, because a resource of a server changed.
    pub(crate) fn updated(&self, server: &ServerId, uri: &str) {
        let inner = self.inner.lock();
        for attachment in inner.attached.values().flatten() {
            if attachment.server == *server && uri.starts_with(&*attachment.uri) {
                attachment.is_stale.store(true, Ordering::Release);
            }
        }
        for reading in &inner.being_read {
            if reading.server == *server && uri.starts_with(&*reading.uri) {
                reading.has_changed.store(true, Ordering::Release);
            }
        }
    }
}

/// Chooses the attachments to give to a model within a budget of tokens: only those meant for a
/// model, the most important first, and each one whole.
pub(crate) fn choose(mut all: Vec<Arc<Attachment>>, budget: u64) -> Vec<Arc<Attachment>> {
    all.retain(|attachment| attachment.is_for_model);
    // The sort is stable, so attachments of equal priority stay in the order in which they were attached.
    all.sort_by(|one, other| other.priority.total_cmp(&one.priority));
    let mut left = budget;
    all.retain(|attachment| match left.checked_sub(attachment.tokens) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    });
    all
}

#[cfg(test)]
mod tests {
    use turnbuckle_protocol::TextResourceContents;

    use super::*;

    fn attachment(uri: &str, bytes: usize, priority: f64) -> Arc<Attachment> {
        let text = TextResourceContents::new(uri, "x".repeat(bytes));
        let contents = vec![ResourceContents::Text(text)];
        let mut attachment = Attachment::new("a".into(), uri.into(), contents, None);
        attachment.priority = priority;
        Arc::new(attachment)
    }

    #[test]
    fn an_attachment_is_stale_until_the_change_has_been_read() {
        let (contexts, conversation) = (Contexts::default(), ConversationId::next());
        let server = ServerId::from("a");
        let attach = |reading: Reading<'_>| {
            let new = attachment("b:1", 4, 1.0);
            contexts.put(conversation, new.clone(), &reading);
            new
        };
        let reading = || contexts.reading(&server, "b:1");
        // The resource changes while it is read for the first time.
        let first = reading();
        contexts.updated(&server, "b:1");
        assert!(attach(first).is_stale());
        let old = attach(reading());
        assert!(!old.is_stale());
        // It stays stale while it is read again, and if that reading is dropped.
        contexts.updated(&server, "b:1");
        let given_up = reading();
        assert!(old.is_stale());
        drop(given_up);
        assert!(old.is_stale());
        // An attachment read before the change is added after the change.
        let early = reading();
        contexts.updated(&server, "b:1/part");
        let late = reading();
        let outdated = attach(early);
        assert!(outdated.is_stale());
        drop(late);
        assert!(outdated.is_stale());
        contexts.updated(&server, "c:1");
        assert!(!attach(reading()).is_stale());
        assert!(contexts.inner.lock().being_read.is_empty());
    }

    #[test]
    fn the_most_important_come_first_within_the_budget() {
        let mut private = Arc::into_inner(attachment("d:1", 4, 1.0)).unwrap();
        private.is_for_model = false;
        let all = vec![
            attachment("a:1", 40, 0.1),
            attachment("b:1", 400, 0.9),
            attachment("c:1", 40, 0.5),
            Arc::new(private),
        ];
        let uris = |budget| -> Vec<String> {
            choose(all.clone(), budget)
                .iter()
                .map(|it| it.uri.to_string())
                .collect()
        };
        assert_eq!(uris(1_000), ["b:1", "c:1", "a:1"]);
        assert_eq!(uris(110), ["b:1", "c:1"]);
        assert_eq!(uris(20), ["c:1", "a:1"]);
        assert_eq!(uris(0), [""; 0]);
    }
}
