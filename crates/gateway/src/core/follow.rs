//! Follows changes of resources for the sessions and subscriptions of clients.
//!
//! A caller with its own session or process of a server is notified of changes in that session, and
//! no other caller is. All other callers are notified of changes in the session that reads the
//! lists.

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

/// How long a server may take to confirm a subscription.
const SUBSCRIBED_WITHIN: Duration = Duration::from_secs(30);

/// The first pause before an ended session is opened again to follow changes.
const AGAIN: Duration = Duration::from_secs(1);

/// The longest such pause. After a session that lasted longer than this, the pause starts again
/// from the first one.
const MAX_AGAIN: Duration = Duration::from_mins(1);

impl Core {
    /// Follows the changes of a resource until the guard is dropped.
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
            // The guard aborts the task.
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

    /// The server at which a resource is followed.
    fn followed_at(&self, uri: &str) -> Option<Arc<Member>> {
        let member = self.owner_of(uri)?;
        // Two gateways must not follow a resource at each other if neither lists it.
        let is_followed = !member.plan.peer.is_gateway() || self.listed_owner_of(uri).is_some();
        is_followed.then_some(member)
    }

    /// Subscribes for the session of a legacy client. If the server refuses, the client gets the error.
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

    /// A value that keeps the caller's own servers running while it is held.
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

/// Whether the session that follows the resource is already subscribed to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subscribed {
    Yes,
    NotYet,
}

/// Subscribes at a legacy server, or returns the server's error. Subscribing twice has no further
/// effect, so the follower of the resource may do it again.
async fn subscribe_at(
    member: &Member,
    front: &ClientChannel,
    follower: &Follower,
    uri: &str,
) -> Result<Subscribed, RelayReply> {
    let caller = follower.caller.id();
    if member.is_apart(caller) {
        // Held until the server has answered.
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

/// The state that is kept with the session of a legacy client.
#[derive(Default)]
struct SessionState {
    followed: Mutex<HashMap<String, FollowedInSession>>,
}

struct FollowedInSession {
    _follow: Follow,
    /// Keeps the caller's own servers running.
    _keeper: Option<Arc<dyn Any + Send + Sync>>,
}

/// The client and caller that follow a resource. The client's capabilities determine in which
/// session its calls run, and it is notified of changes in that session.
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

/// A followed resource. Dropping it ends the following.
pub(crate) enum Follow {
    /// The session that reads the lists follows the resource.
    Shared {
        upstream: Arc<Upstream>,
        uri: Arc<str>,
    },
    /// The caller's own session follows the resource.
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
    /// Notifies the caller of changes. If the session ends, it is opened again.
    async fn follow(self) {
        let mut pause = AGAIN;
        loop {
            let began = time::Instant::now();
            // The server may have been replaced meanwhile.
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

    /// Notifies the caller of changes until the session ends or is closed in favour of another.
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
        // The resource may have changed before the subscription began.
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
