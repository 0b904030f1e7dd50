//! Resources whose changes are followed, for the sessions and subscriptions of clients.
//!
//! A caller that has a session or a process of its own hears of what changes there, and no other caller
//! does. All others hear of what changes in the session that the lists are read in.

use std::{
    any::Any,
    collections::HashMap,
    pin::pin,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{task::AbortHandle, time};
use turnbuckle_base::lock::Mutex;
use turnbuckle_client::{Change, Connection, Listen, RelayEvent, RelayRequest};
use turnbuckle_host::{ServerState, shared::Upstream};
use turnbuckle_protocol::{
    ClientCapabilities, Revision,
    envelope::{Edit, Raw},
};
use turnbuckle_server::{Caller, Changes, ClientChannel, Reject, RelayReply, RelayedRequest};

use super::Core;
use crate::{
    translate::{error, lost, unavailable},
    upstream::{Member, update_of},
};

/// How long a server may take to note a subscription.
const SUBSCRIBED_WITHIN: Duration = Duration::from_secs(30);

/// How long to wait before a session that ended is opened again to hear of changes, at first.
const AGAIN: Duration = Duration::from_secs(1);

/// The longest such pause. A session that lasted longer counts as a good one.
const MAX_AGAIN: Duration = Duration::from_mins(1);

impl Core {
    /// Hears of changes to a resource, for as long as the guard is kept.
    pub(crate) fn follow(
        self: &Arc<Self>,
        follower: &Follower,
        uri: &str,
        subscribed: Subscribed,
    ) -> Option<Follow> {
        let caller = &follower.caller;
        let member = self.followed_at(uri)?;
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
        if member.is_apart(caller.id()) {
            let followed = FollowedApart {
                core: Arc::downgrade(self),
                follower: follower.clone(),
                changes: self.changes.get()?.of_caller(caller),
                uri,
            };
            // It ends with the guard.
            let task = tokio::spawn(followed.follow());
            return Some(Follow::Apart(task.abort_handle()));
        }
        match subscribed {
            Subscribed::Yes => member.upstream.follow_subscribed(&uri),
            Subscribed::NotYet => member.upstream.follow(&uri),
        }
        Some(Follow::Shared {
            upstream: Arc::clone(&member.upstream),
            uri,
        })
    }

    /// The server that a resource is followed at.
    fn followed_at(&self, uri: &str) -> Option<Arc<Member>> {
        let member = self.owner_of(uri)?;
        // Two gateways must not follow in each other what neither of them lists.
        let is_followed = !member.plan.peer.is_gateway() || self.listed_owner_of(uri).is_some();
        is_followed.then_some(member)
    }

    /// Subscribes the session of a legacy client. What the server refuses is refused.
    pub(super) async fn subscribe(
        self: &Arc<Self>,
        front: &ClientChannel,
        follower: &Follower,
        uri: &str,
    ) -> RelayReply {
        let subscribed = match self.followed_at(uri) {
            Some(member) => subscribe_at(&member, front, follower, uri).await,
            None => Ok(Subscribed::NotYet),
        };
        let subscribed = match subscribed {
            Ok(subscribed) => subscribed,
            Err(refusal) => return refusal,
        };
        let Some(follow) = self.follow(follower, uri, subscribed) else {
            return Reject::resource_not_found(uri).into();
        };
        if let Err(reason) = front.subscribe(uri) {
            return Reject::invalid_params(reason).into();
        }
        if let Some(kept) = front.session_state::<SessionState>() {
            let followed = FollowedInSession {
                _follow: follow,
                _keeper: self.keeper(),
            };
            let before = kept.followed.lock().insert(uri.to_owned(), followed);
            drop(before);
        }
        RelayReply::Result(b"{}".to_vec())
    }

    /// What keeps a caller's own servers for as long as it is kept.
    fn keeper(&self) -> Option<Arc<dyn Any + Send + Sync>> {
        self.keeper.get().and_then(Weak::upgrade)
    }

    pub(super) fn unsubscribe(front: &ClientChannel, uri: &str) -> RelayReply {
        front.unsubscribe(uri);
        if let Some(kept) = front.session_state::<SessionState>() {
            let followed = kept.followed.lock().remove(uri);
            drop(followed);
        }
        RelayReply::Result(b"{}".to_vec())
    }
}

/// Whether the session of a server that is followed in is subscribed to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subscribed {
    Yes,
    NotYet,
}

/// Subscribes at a legacy server, or gives what the server says against it. To subscribe twice is to
/// subscribe once, so that the one who follows the resource may do so again.
async fn subscribe_at(
    member: &Member,
    front: &ClientChannel,
    follower: &Follower,
    uri: &str,
) -> Result<Subscribed, RelayReply> {
    let caller = follower.caller.id();
    if member.is_apart(caller) {
        // It is held until the server has answered.
        let lane = member.lane_for(&follower.capabilities, caller).await?;
        return subscribe_in(&lane.connection, member, front.revision(), uri).await;
    }
    match member.upstream.connection().await {
        Ok(connection) => subscribe_in(&connection, member, front.revision(), uri).await,
        Err(failure) => Err(unavailable(member.id.as_str(), &failure.reason)),
    }
}

async fn subscribe_in(
    connection: &Connection,
    member: &Member,
    to: Revision,
    uri: &str,
) -> Result<Subscribed, RelayReply> {
    let from = connection.server().revision();
    if from.is_modern() {
        return Ok(Subscribed::NotYet);
    }
    let params = Edit::new(Raw::EMPTY_OBJECT)
        .set_text(&["uri"], uri)
        .finish();
    let request = RelayRequest::new("resources/subscribe", params.ok());
    let mut call = match connection.relay(request.with_deadline(SUBSCRIBED_WITHIN)) {
        Ok(call) => call,
        Err(error) => return Err(lost(member.id.as_str(), &error)),
    };
    loop {
        match call.next().await {
            RelayEvent::Result(_) => return Ok(Subscribed::Yes),
            RelayEvent::Error(raw) => return Err(error(&raw, from, to, Some(uri))),
            RelayEvent::Lost(error) => return Err(lost(member.id.as_str(), &error)),
            _ => {}
        }
    }
}

/// What is kept with the session of a legacy client.
#[derive(Default)]
struct SessionState {
    followed: Mutex<HashMap<String, FollowedInSession>>,
}

struct FollowedInSession {
    _follow: Follow,
    /// Keeps the caller's own servers.
    _keeper: Option<Arc<dyn Any + Send + Sync>>,
}

/// Who follows a resource: a client of a caller. Its capabilities decide which session its calls run in,
/// and what happens in that session is what it hears of.
#[derive(Clone)]
pub(crate) struct Follower {
    caller: Caller,
    capabilities: ClientCapabilities,
}

impl Follower {
    pub(crate) fn of(request: &RelayedRequest<'_>) -> Self {
        Self {
            caller: request.caller().clone(),
            capabilities: request.capabilities(),
        }
    }
}

/// A resource whose changes are followed. Dropping it ends that.
pub(crate) enum Follow {
    /// The resource is followed by the session in which the lists are read.
    Shared {
        upstream: Arc<Upstream>,
        uri: Arc<str>,
    },
    /// The resource is followed by a session of one caller.
    Apart(AbortHandle),
}

impl Drop for Follow {
    fn drop(&mut self) {
        match self {
            Self::Shared { upstream, uri } => upstream.unfollow(uri),
            Self::Apart(task) => task.abort(),
        }
    }
}

/// A resource that one caller follows in its own session with the server.
struct FollowedApart {
    core: Weak<Core>,
    follower: Follower,
    changes: Changes,
    uri: Arc<str>,
}

impl FollowedApart {
    /// Tells the caller of changes. A session that ends is opened again.
    async fn follow(self) {
        let mut pause = AGAIN;
        loop {
            let began = time::Instant::now();
            // The server may be another by now.
            let member = self
                .core
                .upgrade()
                .and_then(|core| core.owner_of(&self.uri));
            if let Some(member) = member {
                self.hear(&member).await;
            }
            if began.elapsed() > MAX_AGAIN {
                pause = AGAIN;
            }
            time::sleep(pause).await;
            pause = (pause * 2).min(MAX_AGAIN);
        }
    }

    /// Tells the caller of changes until the session ends, or makes room for another.
    async fn hear(&self, member: &Member) {
        let Follower {
            caller,
            capabilities,
        } = &self.follower;
        let lane = member.lane_for(capabilities, caller.id()).await;
        let Ok(lane) = lane else { return };
        let mut ended = pin!(lane.ended());
        let listen = Listen::new().resource(&*self.uri);
        let Ok(mut changes) = lane.connection.listen(listen).await else {
            return;
        };
        drop(lane);
        // It may have changed before the server listened.
        self.changes.resource(&*self.uri);
        loop {
            let change = tokio::select! {
                biased;
                () = &mut ended => return,
                change = changes.next() => change,
            };
            let Some(Ok(change)) = change else { return };
            match change {
                Change::ResourceUpdated { params, .. } => {
                    let resources = vec![self.uri.to_string()];
                    let update = update_of(&params);
                    self.changes.pass_on_update(resources, update.get());
                }
                Change::Missed(_) => self.changes.resource(&*self.uri),
                _ => {}
            }
        }
    }
}
