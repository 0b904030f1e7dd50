//! One server of the fleet: its state, its connection if it has one, and its lists.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, watch},
    time::{self, Instant},
};
use turnbuckle_base::lock::{Mutex, RwLock};
use turnbuckle_client::{Connection, Roots};
use turnbuckle_protocol::{Prompt, Resource, ResourceTemplate, Root, Tool};

use super::{
    FailureKind, ServerFailure, ServerSpec, ServerState, Start, listing::List, origin::Origin,
};
use crate::id::ServerId;

/// How long it may take until a server has received the end of a subscription: its lists may be
/// read first, and the request has its own time limit.
const LEAVING: Duration = Duration::from_secs(30);

/// How many unfollowed resources are remembered. No single client follows this many.
const MAX_LEFT: usize = 10_000;

/// Everything that a server lists.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    /// Tools.
    pub tools: Arc<List<Tool>>,
    /// Prompts.
    pub prompts: Arc<List<Prompt>>,
    /// Resources.
    pub resources: Arc<List<Resource>>,
    /// Resource templates.
    pub templates: Arc<List<ResourceTemplate>>,
    /// Lists that could not be read.
    pub failures: Vec<String>,
    /// When the first of the lists goes out of date, according to the server.
    pub stale_at: Option<Instant>,
}

impl Lists {
    /// Whether the lists are equal, byte for byte.
    pub fn is_same(&self, other: &Self) -> bool {
        self.tools.is_same(&other.tools)
            && self.prompts.is_same(&other.prompts)
            && self.resources.is_same(&other.resources)
            && self.templates.is_same(&other.templates)
            && self.failures == other.failures
    }
}

/// A root that may be shown to a server.
#[derive(Clone, Debug)]
pub(crate) struct AllowedRoot {
    pub(crate) root: Root,
    /// Whether a grant or the policy allows the root. Such a root is withdrawn when they no longer
    /// allow it.
    pub(crate) is_granted: bool,
}

/// The state of a server, and what led to it.
struct StateRecord {
    /// The number of state changes so far. Waiting callers use it to tell a new failure from an old one.
    changes: u64,
    state: ServerState,
    /// The last failure since the server was last [settled](ServerState::is_settled).
    failure: Option<Arc<ServerFailure>>,
}

impl StateRecord {
    fn become_state(&mut self, state: ServerState) {
        self.changes += 1;
        if let ServerState::Restarting { failure, .. } = &state {
            self.failure = Some(failure.clone());
        } else if state.is_settled() {
            self.failure = None;
        }
        self.state = state;
    }
}

/// One server of the fleet.
pub struct Upstream {
    pub(crate) origin: Arc<Origin>,
    /// How the server is started or reached, and its settings.
    pub spec: ServerSpec,
    /// The roots that are shown to the server.
    pub(crate) roots: Roots,
    /// The roots that the server may see. Those whose folders exist are shown.
    allowed_roots: Mutex<Vec<AllowedRoot>>,
    state: RwLock<StateRecord>,
    /// Notifies all waiters of a new state, in the order in which they came.
    state_changed: Notify,
    live: RwLock<Option<Connection>>,
    lists: RwLock<Lists>,
    is_wanted: AtomicBool,
    /// Whether the server was allowed to start before. One permission is valid for restarts too.
    is_start_allowed: AtomicBool,
    pub(super) wanted: Notify,
    pub(super) stopping: watch::Sender<bool>,
    pub(super) rereading: Notify,
    /// Notified when a request did not reach the server.
    pub(super) checking: Notify,
    /// Resources whose changes are followed, with the number of followers of each.
    pub(super) followed: Mutex<BTreeMap<Arc<str>, usize>>,
    pub(super) followed_changed: Notify,
    /// The followed resources that the live connection is subscribed to.
    pub(super) heard: Mutex<BTreeSet<Arc<str>>>,
    /// Resources without followers, with the time at which the last follower left. They are
    /// unsubscribed a little later.
    left: Mutex<BTreeMap<Arc<str>, Instant>>,
    /// Counts when reading the lists begins and ends. The number is odd during a reading.
    pub(super) listed: watch::Sender<u64>,
}

impl Upstream {
    pub(crate) fn new(id: ServerId, spec: ServerSpec) -> Self {
        let state = match (spec.is_enabled, spec.start) {
            (false, _) => ServerState::Disabled,
            (true, Start::AtOnce) => ServerState::Starting,
            (true, Start::OnDemand) => ServerState::Idle,
        };
        Self {
            origin: Arc::new(Origin::new(
                id,
                spec.reach.fingerprint(),
                spec.approved_tools.clone(),
            )),
            roots: Roots::from(Vec::new()),
            allowed_roots: Mutex::new(Vec::new()),
            state: RwLock::new(StateRecord {
                changes: 0,
                state,
                failure: None,
            }),
            state_changed: Notify::new(),
            live: RwLock::new(None),
            lists: RwLock::new(Lists::default()),
            is_wanted: AtomicBool::new(spec.is_enabled && spec.start == Start::AtOnce),
            is_start_allowed: AtomicBool::new(false),
            wanted: Notify::new(),
            stopping: watch::Sender::new(false),
            rereading: Notify::new(),
            checking: Notify::new(),
            followed: Mutex::new(BTreeMap::new()),
            followed_changed: Notify::new(),
            heard: Mutex::default(),
            left: Mutex::default(),
            listed: watch::Sender::new(0),
            spec,
        }
    }

    /// Its id.
    pub fn id(&self) -> &ServerId {
        &self.origin.id
    }

    /// Its state.
    pub fn state(&self) -> ServerState {
        self.state.read().state.clone()
    }

    pub(super) fn set_state(&self, state: ServerState) {
        self.state.write().become_state(state);
        self.state_changed.notify_waiters();
    }

    /// Its lists.
    pub fn lists(&self) -> Lists {
        self.lists.read().clone()
    }

    /// Whether a list could not be read.
    pub(super) fn has_unread_lists(&self) -> bool {
        !self.lists.read().failures.is_empty()
    }

    pub(super) fn set_lists(&self, lists: Lists) {
        *self.lists.write() = lists;
    }

    /// The current connection, if there is one.
    pub fn live(&self) -> Option<Connection> {
        self.live.read().as_ref().cloned()
    }

    pub(super) fn set_live(&self, connection: Option<Connection>) {
        *self.live.write() = connection;
    }

    /// Tells the supervisor that the server is needed.
    pub fn start_soon(&self) {
        self.is_wanted.store(true, Ordering::Release);
        self.wanted.notify_one();
    }

    /// Forgets that the server was needed. It is then started when it is next needed.
    pub(super) fn forget_want(&self) {
        self.is_wanted.store(false, Ordering::Release);
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.is_wanted.load(Ordering::Acquire)
    }

    pub(crate) fn is_start_allowed(&self) -> bool {
        self.is_start_allowed.load(Ordering::Acquire)
    }

    pub(crate) fn allow_start(&self) {
        self.is_start_allowed.store(true, Ordering::Release);
    }

    /// Asks the supervisor to end the server and itself.
    pub fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Reports that a request in another session did not reach the server. The supervisor then
    /// checks whether it can be reached.
    pub fn check_reachable(&self) {
        if self.spec.is_remote() {
            self.checking.notify_one();
        }
    }

    /// Requests that the lists are read again.
    pub fn reread_lists(&self) {
        self.rereading.notify_one();
    }

    /// Requests that the lists are read again if they are out of date, according to the server.
    pub fn reread_stale_lists(&self) {
        let is_stale = self
            .lists
            .read()
            .stale_at
            .is_some_and(|at| at <= Instant::now());
        if is_stale {
            self.reread_lists();
        }
    }

    /// If the server is ready, reads the lists again and waits until this is done.
    pub async fn refresh(&self) {
        let mut listed = self.listed.subscribe();
        // A reading that is under way began before this request, so wait for the next one.
        let now = *listed.borrow_and_update();
        let wanted = if now.is_multiple_of(2) {
            now + 2
        } else {
            now + 3
        };
        self.reread_lists();
        loop {
            // Register before checking, so that no change is missed.
            let changed = self.state_changed.notified();
            if !self.state.read().state.is_ready() || *listed.borrow_and_update() >= wanted {
                return;
            }
            tokio::select! {
                biased;
                changed = listed.changed() => if changed.is_err() { return },
                () = changed => {}
            }
        }
    }

    /// Waits until the server is ready, has failed, or is idle. A server that is being restarted
    /// after a failure is waited for only as long as one start may take.
    pub async fn settled(&self) -> ServerState {
        self.settled_since(time::Instant::now()).await
    }

    /// Like [`settled`](Self::settled), for callers that have waited since `began`, perhaps for
    /// other servers.
    pub async fn settled_since(&self, began: time::Instant) -> ServerState {
        let settled =
            |record: &StateRecord| record.state.is_settled().then(|| record.state.clone());
        tokio::select! {
            biased;
            state = self.state_in(settled) => state,
            _ = self.failed_for_a_start(began) => self.state(),
        }
    }

    /// Waits until `find` returns a value for the state, and returns that value.
    async fn state_in<T>(&self, find: impl Fn(&StateRecord) -> Option<T>) -> T {
        loop {
            // Register before checking, so that no change is missed.
            let changed = self.state_changed.notified();
            let found = find(&self.state.read());
            match found {
                Some(found) => return found,
                None => changed.await,
            }
        }
    }

    /// Waits until the server has failed and the time that one start may take is over, counted from
    /// `began`. Before its first failure a server may be waiting for the user's consent, which has
    /// no time limit.
    async fn failed_for_a_start(&self, began: time::Instant) -> Arc<ServerFailure> {
        time::sleep(self.spec.start_timeout.saturating_sub(began.elapsed())).await;
        self.state_in(|record| record.failure.clone()).await
    }

    /// Returns the connection, and starts the server if necessary.
    ///
    /// # Errors
    /// The reason why the server is not available. While the server is paused after many failures,
    /// this fails at once. While it fails and is restarted, this fails after the time that one
    /// start may take.
    pub async fn connection(&self) -> Result<Connection, Arc<ServerFailure>> {
        // Use a connection to a URL that did not answer: the server may be back, and if it is not,
        // the request fails soon.
        if let Some(connection) = self.live()
            && !connection.has_ended()
        {
            return Ok(connection);
        }
        let (first, state) = {
            let record = self.state.read();
            (record.changes, record.state.clone())
        };
        match &state {
            ServerState::Failed {
                failure,
                retry_after: Some(_),
            } => return Err(failure.clone()),
            ServerState::Failed { failure, .. } if failure.kind == FailureKind::Misconfigured => {
                return Err(failure.clone());
            }
            ServerState::Disabled => return Err(gone("it is disabled")),
            _ => {}
        }
        self.start_soon();
        let mut failed = std::pin::pin!(self.failed_for_a_start(time::Instant::now()));
        loop {
            // Register before checking, so that no change is missed.
            let changed = self.state_changed.notified();
            {
                let now = self.state.read();
                match &now.state {
                    ServerState::Failed { failure, .. } if now.changes > first => {
                        return Err(failure.clone());
                    }
                    ServerState::Removed => return Err(gone("it was removed")),
                    // The server was started for this call, and ended before the call could use it.
                    ServerState::Idle => self.start_soon(),
                    _ => {}
                }
            }
            if let Some(connection) = self.live()
                && !connection.has_ended()
            {
                return Ok(connection);
            }
            tokio::select! {
                biased;
                () = changed => {}
                failure = &mut failed => return Err(failure),
            }
        }
    }

    pub(crate) fn allowed_roots(&self) -> Vec<AllowedRoot> {
        self.allowed_roots.lock().clone()
    }

    pub(crate) fn allow_root(&self, new: AllowedRoot) {
        let mut allowed = self.allowed_roots.lock();
        match allowed.iter_mut().find(|it| it.root.uri == new.root.uri) {
            Some(known) => *known = new,
            None => allowed.push(new),
        }
    }

    /// Withdraws a root. Returns whether the server had it.
    pub(crate) fn disallow_root(&self, uri: &str) -> bool {
        let mut allowed = self.allowed_roots.lock();
        let before = allowed.len();
        allowed.retain(|allowed| allowed.root.uri != uri);
        allowed.len() != before
    }

    /// Shows these roots to the server, if they differ from the previous ones.
    pub(crate) fn show_roots(&self, roots: Vec<Root>) {
        if self.roots.list() != roots {
            self.roots.replace(roots);
        }
    }

    /// The resources whose changes are followed.
    pub fn followed(&self) -> Vec<Arc<str>> {
        self.followed.lock().keys().cloned().collect()
    }

    /// Follows the changes of a resource, until [`unfollow`](Self::unfollow) is called.
    pub fn follow(&self, uri: &Arc<str>) {
        *self.followed.lock().entry(uri.clone()).or_default() += 1;
        self.followed_changed.notify_one();
    }

    /// Follows a resource that the live connection is already subscribed to, so that no change was
    /// missed. If another follower left a moment ago, its unsubscribe request may reach the server
    /// after that subscription; then the resource is treated as possibly changed.
    pub fn follow_subscribed(&self, uri: &Arc<str>) {
        let left = self.left.lock().get(uri).copied();
        if left.is_none_or(|left| left.elapsed() > LEAVING) {
            self.heard.lock().insert(uri.clone());
        }
        self.follow(uri);
    }

    /// Undoes one [`follow`](Self::follow).
    pub fn unfollow(&self, uri: &str) {
        let mut followed = self.followed.lock();
        if let Some(count) = followed.get_mut(uri) {
            *count -= 1;
            if *count == 0 {
                self.heard.lock().remove(uri);
                if let Some((uri, _)) = followed.remove_entry(uri) {
                    self.leave(uri);
                }
            }
        }
        drop(followed);
        self.followed_changed.notify_one();
    }

    fn leave(&self, uri: Arc<str>) {
        let mut left = self.left.lock();
        left.retain(|_, since| since.elapsed() <= LEAVING);
        if left.len() < MAX_LEFT {
            left.insert(uri, Instant::now());
        }
    }
}

fn gone(reason: &str) -> Arc<ServerFailure> {
    Arc::new(ServerFailure::new(FailureKind::Removed, reason))
}

#[cfg(test)]
mod tests {
    use turnbuckle_client::Target;

    use super::*;

    fn upstream() -> Upstream {
        let spec = ServerSpec::from_fn(|| -> Target { unreachable!("it is not started") });
        Upstream::new(ServerId::from("a"), spec)
    }

    #[tokio::test(start_paused = true)]
    async fn a_resource_that_was_left_a_moment_ago_may_have_changed() {
        let (upstream, uri) = (upstream(), Arc::<str>::from("note:a"));
        let is_heard = || upstream.heard.lock().contains(&uri);
        upstream.follow_subscribed(&uri);
        assert!(is_heard());
        upstream.unfollow(&uri);
        // The request that ends the first subscription may reach the server after this one.
        upstream.follow_subscribed(&uri);
        assert!(!is_heard());
        upstream.unfollow(&uri);
        time::sleep(LEAVING * 2).await;
        upstream.follow_subscribed(&uri);
        assert!(is_heard());
    }
}
