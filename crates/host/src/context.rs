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
    /// The server that it is from, by the id that the host gave it.
    pub server: ServerId,
    /// Its URI.
    pub uri: Arc<str>,
    /// The contents when it was read: one part or several, text or binary.
    pub contents: Vec<ResourceContents>,
    /// About how many tokens of a model it takes: its bytes divided by four, rounded up.
    pub tokens: u64,
    /// How much it matters, from 0 to 1, by the annotations of the resource; 0.5 without one.
    /// [`Conversation::context`](crate::Conversation::context) returns the highest first.
    pub priority: f64,
    /// Whether it is meant for a model, by the audience in its annotations; true without one.
    /// [`Conversation::context`](crate::Conversation::context) leaves out the others.
    pub is_for_model: bool,
    /// Whether it has changed since it was read.
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
        // Three bytes are four characters.
        ResourceContents::Blob(blob) => blob.blob.len() / 4 * 3,
        _ => 0,
    }
}

/// A resource is being read. Dropping this marks the older attachment as stale again, if it was: it is
/// out of date unless a new one has replaced it.
pub(crate) struct Reading {
    stale: Vec<Arc<Attachment>>,
}

impl Drop for Reading {
    fn drop(&mut self) {
        for attachment in &self.stale {
            attachment.is_stale.store(true, Ordering::Release);
        }
    }
}

/// The attachments of all conversations.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    attached: Mutex<HashMap<ConversationId, Vec<Arc<Attachment>>>>,
}

impl Contexts {
    pub(crate) fn of(&self, conversation: ConversationId) -> Vec<Arc<Attachment>> {
        let attached = self.attached.lock();
        attached.get(&conversation).cloned().unwrap_or_default()
    }

    /// Call this before a resource is read, and keep the result until it was read. A change that is
    /// announced while it is being read then marks the older attachment, and [`put`](Self::put) hands
    /// the mark on to the new one.
    pub(crate) fn reading(
        &self,
        conversation: ConversationId,
        server: &ServerId,
        uri: &str,
    ) -> Reading {
        let mut stale = self.of(conversation);
        stale.retain(|it| {
            it.server == *server && *it.uri == *uri && it.is_stale.swap(false, Ordering::AcqRel)
        });
        Reading { stale }
    }

    /// Puts an attachment in, in place of an older one of the same resource. Says whether there was
    /// one.
    pub(crate) fn put(&self, conversation: ConversationId, new: Arc<Attachment>) -> bool {
        let mut attached = self.attached.lock();
        let all = attached.entry(conversation).or_default();
        let is_same = |it: &&mut Arc<Attachment>| it.uri == new.uri && it.server == new.server;
        let old = all.iter_mut().find(is_same);
        let was_there = old.is_some();
        match old {
            Some(old) => {
                if old.is_stale() {
                    new.is_stale.store(true, Ordering::Release);
                }
                *old = new;
            }
            None => all.push(new),
        }
        was_there
    }

    pub(crate) fn take(&self, conversation: ConversationId, uri: &str) -> Option<Arc<Attachment>> {
        let mut attached = self.attached.lock();
        let all = attached.get_mut(&conversation)?;
        let index = all.iter().position(|it| *it.uri == *uri)?;
        Some(all.remove(index))
    }

    pub(crate) fn end(&self, conversation: ConversationId) -> Vec<Arc<Attachment>> {
        let ended = self.attached.lock().remove(&conversation);
        ended.unwrap_or_default()
    }

    /// A resource of a server changed.
    pub(crate) fn updated(&self, server: &ServerId, uri: &str) {
        for attachment in self.attached.lock().values().flatten() {
            if attachment.server == *server && uri.starts_with(&*attachment.uri) {
                attachment.is_stale.store(true, Ordering::Release);
            }
        }
    }
}

/// Those that a model should be given within so many tokens: meant for a model, the most important
/// first, and none in part.
pub(crate) fn choose(mut all: Vec<Arc<Attachment>>, budget: u64) -> Vec<Arc<Attachment>> {
    all.retain(|attachment| attachment.is_for_model);
    // Stable, so that what matters the same stays in the order in which it was attached.
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
    fn an_attachment_stays_stale_if_reading_it_again_is_given_up() {
        let (contexts, conversation) = (Contexts::default(), ConversationId::next());
        let (server, old) = (ServerId::from("a"), attachment("b:1", 4, 1.0));
        contexts.put(conversation, old.clone());
        contexts.updated(&server, "b:1");
        drop(contexts.reading(conversation, &server, "b:1"));
        assert!(old.is_stale());

        let reading = contexts.reading(conversation, &server, "b:1");
        let new = attachment("b:1", 4, 1.0);
        contexts.put(conversation, new.clone());
        drop(reading);
        assert!(!new.is_stale());
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
