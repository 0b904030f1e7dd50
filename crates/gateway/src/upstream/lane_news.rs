//! Messages of a server that belong to no call.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
    time::Duration,
};

use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};
use tokio::time;
use turnbuckle_base::lock::Mutex;
use turnbuckle_host::ServerId;
use turnbuckle_protocol::{
    envelope::{Edit, Raw},
    meta::key,
};

use crate::translate::text_of;

/// How long changes are collected before they are reported. If a server keeps reporting changes of
/// its lists, they are passed on twenty times a second at most.
const COLLECT: Duration = Duration::from_millis(50);

/// The largest passed-on update notification, in bytes. For a thousand resources this takes four
/// megabytes for a moment.
const MAX_UPDATE_BYTES: usize = 4096;

/// How many changed resources are reported at once.
const MAX_UPDATED: usize = 1_000;

/// A message for the clients of the gateway.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaneNews {
    /// The visit with this id is over.
    Visited(String),
    Tools,
    Prompts,
    Resources,
    /// The resource at this URI, or a part of it, changed. Contains the server's notification.
    Updated {
        uri: String,
        params: Box<str>,
    },
}

impl LaneNews {
    /// Reads a notification.
    pub(super) fn read(method: &str, params: Option<&RawValue>) -> Option<Self> {
        let text = |name| params.and_then(|raw| Raw::from(raw).member(name).and_then(text_of));
        Some(match method {
            "notifications/elicitation/complete" => Self::Visited(text("elicitationId")?),
            "notifications/tools/list_changed" => Self::Tools,
            "notifications/prompts/list_changed" => Self::Prompts,
            "notifications/resources/list_changed" => Self::Resources,
            "notifications/resources/updated" => Self::Updated {
                uri: text("uri")?,
                params: update_of(params?).get().into(),
            },
            _ => return None,
        })
    }
}

/// The params of an update notification, without the parts that concern the subscription at the
/// server. Long params are shortened to the URI.
pub(crate) fn update_of(params: &RawValue) -> Box<RawValue> {
    let raw = Raw::from(params);
    let without_id = Edit::new(raw).drop(&["_meta", key::SUBSCRIPTION_ID]);
    let mut update = without_id.finish();
    if let Ok(edited) = &update
        && edited
            .raw()
            .member("_meta")
            .is_some_and(|meta| meta.members().is_empty())
    {
        update = Edit::new(edited.raw()).drop(&["_meta"]).finish();
    }
    match update {
        Ok(update) if update.raw().get().len() <= MAX_UPDATE_BYTES => {
            update.raw().value().to_owned()
        }
        _ => {
            let uri = raw.member("uri").and_then(text_of).unwrap_or_default();
            to_raw_value(&json!({ "uri": uri })).expect("a text is JSON")
        }
    }
}

/// A listener for the messages of servers.
pub(crate) type OnNews = Arc<dyn Fn(&ServerId, LaneNews) + Send + Sync>;

/// Collects the messages of one session, and reports them a moment later.
pub(super) struct Collected {
    server: ServerId,
    on_news: OnNews,
    waiting: Mutex<WaitingNews>,
}

/// Messages that are not reported yet.
#[derive(Default)]
struct WaitingNews {
    news: BTreeSet<LaneNews>,
    /// The last notification for each updated resource.
    updated: BTreeMap<String, Box<str>>,
}

impl Collected {
    pub(super) fn new(server: ServerId, on_news: OnNews) -> Arc<Self> {
        Arc::new(Self {
            server,
            on_news,
            waiting: Mutex::default(),
        })
    }

    /// Reports the message soon, and only once if it is repeated until then.
    pub(super) fn add(self: &Arc<Self>, news: LaneNews) {
        let is_first = {
            let mut waiting = self.waiting.lock();
            let is_first = waiting.news.is_empty() && waiting.updated.is_empty();
            if let LaneNews::Updated { uri, params } = news {
                let updated = &mut waiting.updated;
                if updated.len() >= MAX_UPDATED && !updated.contains_key(&uri) {
                    return;
                }
                updated.insert(uri, params);
            } else {
                waiting.news.insert(news);
            }
            is_first
        };
        if is_first {
            let collected = Arc::downgrade(self);
            // The task ends by itself after a moment.
            tokio::spawn(async move {
                time::sleep(COLLECT).await;
                if let Some(collected) = Weak::upgrade(&collected) {
                    collected.tell();
                }
            });
        }
    }

    fn tell(&self) {
        let WaitingNews { news, updated } = std::mem::take(&mut *self.waiting.lock());
        let updated = updated.into_iter();
        let updated = updated.map(|(uri, params)| LaneNews::Updated { uri, params });
        for news in news.into_iter().chain(updated) {
            (self.on_news)(&self.server, news);
        }
    }
}
