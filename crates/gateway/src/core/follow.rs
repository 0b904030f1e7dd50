//! Resources whose changes are followed, for the sessions and subscriptions of clients.

use std::{collections::HashMap, sync::Arc, time::Duration};

use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{RelayEvent, RelayRequest};
use turnbuckle_host::{ServerState, shared::Upstream};
use turnbuckle_protocol::{
    Revision,
    envelope::{Edit, Raw},
};
use turnbuckle_server::{Front, Reject, RelayReply};

use super::Core;
use crate::{
    translate::{error, lost, unavailable},
    upstream::Member,
};

/// How long a server may take to note a subscription.
const SUBSCRIBED_WITHIN: Duration = Duration::from_secs(30);

impl Core {
    /// Hears of changes to a resource, for as long as the guard is kept.
    pub(super) fn follow(&self, uri: &str) -> Option<Follow> {
        let member = self.owner_of(uri)?;
        let ServerState::Ready(ready) = member.upstream.state() else {
            return None;
        };
        let can = ready.capabilities.as_ref();
        let resources = can.and_then(|can| can.resources.as_ref());
        let can_subscribe = ready.revision.is_modern()
            || resources.is_some_and(|resources| resources.subscribe == Some(true));
        if resources.is_none() || !can_subscribe {
            return None;
        }
        let uri: Arc<str> = uri.into();
        member.upstream.follow(&uri);
        Some(Follow {
            upstream: Arc::clone(&member.upstream),
            uri,
        })
    }

    /// Subscribes the session of a legacy client. What the server refuses is refused.
    pub(super) async fn subscribe(&self, front: &Front, uri: &str) -> RelayReply {
        let refusal = match self.owner_of(uri) {
            Some(member) => refusal(&member, front.revision(), uri).await,
            None => None,
        };
        if let Some(refusal) = refusal {
            return refusal;
        }
        let Some(follow) = self.follow(uri) else {
            return Reject::resource_not_found(uri).into();
        };
        if let Err(reason) = front.subscribe(uri) {
            return Reject::invalid_params(reason).into();
        }
        if let Some(kept) = front.session_state::<SessionState>() {
            kept.followed.lock().insert(uri.to_owned(), follow);
        }
        RelayReply::Result(b"{}".to_vec())
    }

    pub(super) fn unsubscribe(front: &Front, uri: &str) -> RelayReply {
        front.unsubscribe(uri);
        if let Some(kept) = front.session_state::<SessionState>() {
            let followed = kept.followed.lock().remove(uri);
            drop(followed);
        }
        RelayReply::Result(b"{}".to_vec())
    }
}

/// What a legacy server says against a subscription; `None` if it takes it. To subscribe twice is to
/// subscribe once, so that the one who follows the resource may do so again.
async fn refusal(member: &Member, to: Revision, uri: &str) -> Option<RelayReply> {
    let connection = match member.upstream.connection().await {
        Ok(connection) => connection,
        Err(failure) => return Some(unavailable(member.id.as_str(), &failure.reason)),
    };
    let from = connection.server().revision();
    if from.is_modern() {
        return None;
    }
    let params = Edit::new(Raw::EMPTY_OBJECT)
        .set_text(&["uri"], uri)
        .finish();
    let request = RelayRequest::new("resources/subscribe", params.ok());
    let mut call = match connection.relay(request.with_deadline(SUBSCRIBED_WITHIN)) {
        Ok(call) => call,
        Err(error) => return Some(lost(member.id.as_str(), &error)),
    };
    loop {
        match call.next().await {
            RelayEvent::Result(_) => return None,
            RelayEvent::Error(raw) => return Some(error(&raw, from, to, Some(uri))),
            RelayEvent::Lost(error) => return Some(lost(member.id.as_str(), &error)),
            _ => {}
        }
    }
}

/// What is kept with the session of a legacy client.
#[derive(Default)]
struct SessionState {
    followed: Mutex<HashMap<String, Follow>>,
}

/// A resource whose changes are followed. Dropping it ends that.
pub(super) struct Follow {
    upstream: Arc<Upstream>,
    uri: Arc<str>,
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.upstream.unfollow(&self.uri);
    }
}
