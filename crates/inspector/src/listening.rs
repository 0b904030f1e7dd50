//! Subscriptions to changes of a server while the page is open.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use turnbuckle::{CallError, Change, Connection, Listen};

use super::inspector::Inspector;

/// How long to wait before subscribing again at a server that could not be reached.
const LISTEN_AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The changes that the page subscribes to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ListenTo {
    tools: bool,
    prompts: bool,
    resources: bool,
    uris: Vec<String>,
}

impl ListenTo {
    fn listen(&self) -> Listen {
        let mut listen = Listen::new();
        if self.tools {
            listen = listen.tools();
        }
        if self.prompts {
            listen = listen.prompts();
        }
        if self.resources {
            listen = listen.resources();
        }
        self.uris.iter().fold(listen, Listen::resource)
    }
}

#[derive(Serialize)]
struct Told<'a> {
    server: &'a str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
}

/// Subscribes to changes of the lists from the start, without a request of the page.
pub(super) fn begin(inspector: &Arc<Inspector>, id: &str, connection: &Connection) {
    let wish = ListenTo {
        tools: true,
        prompts: true,
        resources: true,
        uris: Vec::new(),
    };
    listen(inspector, id, connection.clone(), &wish);
}

/// Replaces the subscription by this one.
pub(super) fn listen(
    inspector: &Arc<Inspector>,
    id: &str,
    connection: Connection,
    wish: &ListenTo,
) {
    let (owner, server, listen) = (inspector.clone(), id.to_owned(), wish.listen());
    let task = tokio::spawn(async move { follow(&owner, &server, &connection, listen).await });
    let mut state = inspector.lock();
    let old = state
        .server(id)
        .and_then(|entry| entry.listening.replace(task.abort_handle()));
    drop(state);
    if let Some(old) = old {
        old.abort();
    }
}

async fn follow(inspector: &Arc<Inspector>, id: &str, connection: &Connection, wish: Listen) {
    let mut changes = loop {
        match connection.listen(wish.clone()).await {
            Ok(changes) => break changes,
            Err(error @ (CallError::Lost { .. } | CallError::Unsent { .. })) => {
                tracing::debug!(server = id, %error, "trying again to subscribe to changes");
                tokio::time::sleep(LISTEN_AGAIN_AFTER).await;
            }
            Err(error) => {
                tracing::debug!(server = id, %error, "could not subscribe to changes");
                return;
            }
        }
    };
    while let Some(Ok(change)) = changes.next().await {
        let (kind, uri) = match &change {
            Change::ToolsChanged => ("tools", None),
            Change::PromptsChanged => ("prompts", None),
            Change::ResourcesChanged => ("resources", None),
            Change::ResourceUpdated { uri, .. } => ("resource", Some(&**uri)),
            Change::Missed(_) => ("missed", None),
            _ => continue,
        };
        if kind != "resource"
            && let Some(entry) = inspector.lock().server(id)
        {
            entry.offer = None;
            // A read that is under way may be older than the change.
            entry.reading = Arc::default();
        }
        let told = Told {
            server: id,
            kind,
            uri,
        };
        inspector.events.publish("change", &told);
    }
}
