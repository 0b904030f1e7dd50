//! What a server says in a session that belongs to no call, for those who listen to the gateway.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::time;
use turnbuckle_base::lock::Mutex;
use turnbuckle_host::ServerId;
use turnbuckle_protocol::envelope::Raw;

use crate::translate::text_of;

/// How long changes are collected before they are told. A server that says in a loop that its lists
/// changed is heard twenty times a second at most.
const COLLECT: Duration = Duration::from_millis(50);

/// How many changed resources are told of at once.
const MAX_UPDATED: usize = 1_000;

/// Something that is told to those who listen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaneNews {
    /// The visit with this id is over.
    Visited(String),
    Tools,
    Prompts,
    Resources,
    /// The resource at this URI, or a part of it, changed.
    Updated(String),
}

impl LaneNews {
    /// What a notification says.
    pub(super) fn read(method: &str, params: Option<&RawValue>) -> Option<Self> {
        let text = |name| params.and_then(|raw| Raw::from(raw).member(name).and_then(text_of));
        Some(match method {
            "notifications/elicitation/complete" => Self::Visited(text("elicitationId")?),
            "notifications/tools/list_changed" => Self::Tools,
            "notifications/prompts/list_changed" => Self::Prompts,
            "notifications/resources/list_changed" => Self::Resources,
            "notifications/resources/updated" => Self::Updated(text("uri")?),
            _ => return None,
        })
    }
}

/// Hears what the sessions of servers say.
pub(crate) type OnNews = Arc<dyn Fn(&ServerId, LaneNews) + Send + Sync>;

/// Collects what one session says, and tells it a moment later.
pub(super) struct Collected {
    server: ServerId,
    on_news: OnNews,
    waiting: Mutex<BTreeSet<LaneNews>>,
}

impl Collected {
    pub(super) fn new(server: ServerId, on_news: OnNews) -> Arc<Self> {
        Arc::new(Self {
            server,
            on_news,
            waiting: Mutex::default(),
        })
    }

    /// Tells of it soon, once however often it is said until then.
    pub(super) fn add(self: &Arc<Self>, news: LaneNews) {
        let is_first = {
            let mut waiting = self.waiting.lock();
            let is_first = waiting.is_empty();
            if waiting.len() >= MAX_UPDATED && matches!(news, LaneNews::Updated(_)) {
                return;
            }
            waiting.insert(news);
            is_first
        };
        if is_first {
            let collected = Arc::downgrade(self);
            // It ends by itself, in a moment.
            tokio::spawn(async move {
                time::sleep(COLLECT).await;
                if let Some(collected) = Weak::upgrade(&collected) {
                    collected.tell();
                }
            });
        }
    }

    fn tell(&self) {
        let all = std::mem::take(&mut *self.waiting.lock());
        for news in all {
            (self.on_news)(&self.server, news);
        }
    }
}
