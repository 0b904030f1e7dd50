//! The lists of each caller, if some servers are reached with the caller's own credentials.
//!
//! Each caller has its own core, with the servers that all callers share, and its own sessions with
//! the others.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures_core::future::BoxFuture;
use tokio::{task::JoinSet, time};
use turnbuckle_base::lock::{Mutex, RwLock};
use turnbuckle_host::{Pacing, ServerId};
use turnbuckle_protocol::error::code;
use turnbuckle_server::{Caller, Reject, RelayedRequest};

use super::{CallerAccess, look_ups::LookUps, sign_in};
use crate::{
    core::Core,
    operation::{Directory, EntryFacts, EntryKind},
    routes::name_beside,
    settings::UpstreamSettings,
    upstream::Member,
};

/// How many callers may have their own servers at the same time.
const MAX_CALLERS: usize = 256;

/// How many sets of scopes of one caller may have their own servers at the same time.
const MAX_OF_CALLER: usize = 8;

/// A caller that was idle for this long is forgotten, and its sessions end.
const IDLE: Duration = Duration::from_mins(10);

/// How long a server may take to start after a sign-in before the client gets the answer.
const STARTS_WITHIN: Duration = Duration::from_secs(10);

/// A server that each caller reaches with its own credentials.
pub(crate) struct PersonalServer {
    pub(super) id: ServerId,
    pub(super) access: Arc<dyn CallerAccess>,
    pub(super) settings: UpstreamSettings,
    /// The name of the tool for signing in.
    pub(super) tool: Arc<str>,
}

impl PersonalServer {
    pub(crate) fn new(
        id: ServerId,
        access: Arc<dyn CallerAccess>,
        settings: UpstreamSettings,
    ) -> Self {
        Self {
            tool: name_beside(&id, sign_in::NAME),
            id,
            access,
            settings,
        }
    }
}

/// The callers, and what each of them is offered.
pub(crate) struct Callers {
    pub(super) shared: Arc<Core>,
    servers: RwLock<Vec<Arc<PersonalServer>>>,
    /// Whether there are such servers. Most gateways have none.
    has_servers: AtomicBool,
    pacing: Pacing,
    known: Mutex<BTreeMap<CallerId, Arc<CallerCore>>>,
}

/// A caller, with the scopes of its token. Credentials that were obtained with a token of many
/// scopes must not be used for a token with fewer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CallerId {
    id: Option<String>,
    scopes: Vec<String>,
}

impl CallerId {
    fn of(caller: &Caller) -> Self {
        let mut scopes = caller.scopes().to_vec();
        scopes.sort_unstable();
        Self {
            id: caller.id().map(str::to_owned),
            scopes,
        }
    }
}

/// The core of one caller.
pub(crate) struct CallerCore {
    pub(super) core: Arc<Core>,
    look_ups: LookUps,
    /// Whether the caller's servers have been looked up once.
    is_opened: AtomicBool,
    /// The generation of the shared servers that it was made from.
    seen: Mutex<u64>,
    last_used: Mutex<Instant>,
}

impl Callers {
    pub(crate) fn new(shared: Arc<Core>, servers: Vec<PersonalServer>, pacing: Pacing) -> Self {
        Self {
            shared,
            has_servers: AtomicBool::new(!servers.is_empty()),
            servers: RwLock::new(servers.into_iter().map(Arc::new).collect()),
            pacing,
            known: Mutex::default(),
        }
    }

    /// Whether all callers are offered the same servers.
    pub(super) fn share_all(&self) -> bool {
        !self.has_servers.load(Ordering::Acquire)
    }

    pub(super) fn servers(&self) -> Vec<Arc<PersonalServer>> {
        self.servers.read().clone()
    }

    /// Adds a server. A server of the same name is replaced.
    pub(crate) fn add(&self, server: PersonalServer) {
        {
            let mut servers = self.servers.write();
            servers.retain(|other| other.id != server.id);
            servers.push(Arc::new(server));
            self.has_servers.store(true, Ordering::Release);
        }
        self.begin_anew();
    }

    /// Removes a server. Returns false if there is no such server.
    pub(crate) fn remove(&self, id: &ServerId) -> bool {
        let is_removed = {
            let mut servers = self.servers.write();
            let before = servers.len();
            servers.retain(|other| other.id != *id);
            self.has_servers
                .store(!servers.is_empty(), Ordering::Release);
            servers.len() < before
        };
        if is_removed {
            self.begin_anew();
        }
        is_removed
    }

    /// Forgets the cores of all callers, so that their servers are looked up again. Running calls finish.
    fn begin_anew(&self) {
        let known = std::mem::take(&mut *self.known.lock());
        drop(known);
        self.shared.announce_lists();
    }

    /// The core for a caller, as far as it is known without waiting.
    pub(crate) fn core(&self, caller: &Caller) -> Arc<Core> {
        let own = self.known(caller);
        own.map_or_else(|| Arc::clone(&self.shared), |own| Arc::clone(&own.core))
    }

    /// The core of a caller that has its own servers. The caller is not forgotten while this value
    /// is held.
    pub(super) fn known(&self, caller: &Caller) -> Option<Arc<CallerCore>> {
        if self.share_all() {
            return None;
        }
        self.known.lock().get(&CallerId::of(caller)).cloned()
    }

    /// The core for a caller. The servers that it has credentials for are started.
    pub(super) async fn open(&self, caller: &Caller) -> Result<Arc<CallerCore>, Reject> {
        let own = self.entry(caller)?;
        let servers = self.servers();
        for server in &servers {
            server.access.note(caller);
        }
        own.look_ups.run(&servers, &own.core, caller).await;
        *own.last_used.lock() = Instant::now();
        self.sync(&own);
        own.is_opened.store(true, Ordering::Release);
        Ok(own)
    }

    fn entry(&self, caller: &Caller) -> Result<Arc<CallerCore>, Reject> {
        let id = CallerId::of(caller);
        let mut known = self.known.lock();
        if let Some(own) = known.get(&id) {
            return Ok(Arc::clone(own));
        }
        let of_caller = known.keys().filter(|other| other.id == id.id).count();
        let evicted = if of_caller >= MAX_OF_CALLER {
            let is_own = |other: &CallerId| other.id == id.id;
            let evicted = longest_idle(&mut known, is_own);
            Some(evicted.ok_or_else(|| {
                busy(format!(
                    "you are using {MAX_OF_CALLER} tokens with different scopes at once; end the calls or \
                     subscriptions of one of them"
                ))
            })?)
        } else if known.len() >= MAX_CALLERS {
            let evicted = longest_idle(&mut known, |_| true);
            Some(evicted.ok_or_else(|| {
                busy(format!(
                    "{MAX_CALLERS} callers have calls or subscriptions under way at this gateway; try again \
                     later"
                ))
            })?)
        } else {
            None
        };
        let own = Arc::new(CallerCore {
            core: self.shared.for_caller(caller, self.pacing),
            look_ups: LookUps::default(),
            is_opened: AtomicBool::new(false),
            seen: Mutex::new(0),
            last_used: Mutex::new(Instant::now()),
        });
        let keeper: Weak<CallerCore> = Arc::downgrade(&own);
        own.core.set_keeper(keeper);
        known.insert(id, Arc::clone(&own));
        drop(known);
        // Dropping it ends its sessions, so do this without the lock.
        drop(evicted);
        Ok(own)
    }

    /// Starts a server with the newest credentials after a sign-in, and waits for it for a limited
    /// time. Returns false if there are no credentials.
    pub(super) async fn connect_now(
        own: &CallerCore,
        server: &Arc<PersonalServer>,
        caller: &Caller,
    ) -> bool {
        // Another request may have started it already.
        if !own.core.has(&server.id) || !own.look_ups.is_current(server, caller) {
            own.look_ups.run_now(server, &own.core, caller).await;
        }
        if !own.core.contains(&server.id) {
            return false;
        }
        let _ = time::timeout(STARTS_WITHIN, own.core.settled_one(&server.id)).await;
        true
    }

    /// Whether a call of the sign-in tool is for the server itself: a server that the caller is
    /// signed in to may have a tool of this name.
    pub(super) fn has_own_tool(&self, caller: &Caller, server: &PersonalServer) -> bool {
        let core = self.core(caller);
        core.has(&server.id) && core.lists_tool(&server.tool)
    }

    /// Applies changes of the shared servers.
    pub(super) fn sync(&self, own: &CallerCore) {
        // Held until the servers are in place, so that no request replaces newer servers by older ones.
        let mut seen = own.seen.lock();
        // Read the generation before the servers, so that a change in between is applied the next time.
        let now = self.shared.generation();
        if *seen != now {
            own.core.share(self.shared.members());
            *seen = now;
        }
    }

    /// The servers, with the callers' sessions with each of them.
    pub(crate) fn sessions(&self) -> Vec<(ServerId, Vec<Arc<Member>>)> {
        let all = self.all();
        let of_server = |server: &Arc<PersonalServer>| {
            let members = all.iter().filter_map(|core| core.member(&server.id));
            (server.id.clone(), members.collect())
        };
        self.servers().iter().map(of_server).collect()
    }

    /// Restarts a server for all callers that have it. Returns false if there is no such server.
    pub(crate) fn restart(&self, id: &ServerId) -> bool {
        let is_known = self.servers.read().iter().any(|server| server.id == *id);
        if is_known {
            for core in self.all() {
                core.restart(id);
            }
        }
        is_known
    }

    /// The names of the servers.
    pub(crate) fn names(&self) -> Vec<String> {
        let servers = self.servers.read();
        servers.iter().map(|server| server.id.to_string()).collect()
    }

    /// Records again what the servers of all callers offer.
    pub(crate) fn observe_all(&self) {
        for core in self.all() {
            core.observe_all();
        }
    }

    /// Merges the lists of all callers again.
    pub(crate) fn reroute(&self) {
        for core in self.all() {
            core.reroute();
        }
    }

    /// Ends sessions that are no longer needed, and forgets idle callers.
    pub(crate) fn tidy(&self) {
        let gone: BTreeMap<_, _> = {
            let mut known = self.known.lock();
            let (gone, kept) = std::mem::take(&mut *known)
                .into_iter()
                .partition(|(_, own)| {
                    // An open subscription holds a reference too, and keeps the caller.
                    Arc::strong_count(own) == 1 && own.last_used.lock().elapsed() >= IDLE
                });
            *known = kept;
            gone
        };
        drop(gone);
        self.shared.tidy();
        for core in self.all() {
            core.tidy_members();
        }
    }

    /// Ends the servers of all callers.
    pub(crate) async fn close(&self) {
        let all = std::mem::take(&mut *self.known.lock());
        let mut closing = JoinSet::new();
        for own in all.values() {
            let core = Arc::clone(&own.core);
            closing.spawn(async move { core.close().await });
        }
        closing.join_all().await;
    }

    /// The cores of all callers. A caller is not forgotten while its core is held.
    fn all(&self) -> Vec<Arc<Core>> {
        let known = self.known.lock();
        known.values().map(|own| Arc::clone(&own.core)).collect()
    }
}

impl CallerCore {
    /// Whether it is known which of its servers the caller has, and none of them is starting.
    pub(super) fn is_settled(&self) -> bool {
        // Before the first opening no look-up has begun, so nothing is known about its servers.
        self.is_opened.load(Ordering::Acquire)
            && !self.look_ups.is_running()
            && !self.core.is_starting()
    }
}

/// Removes the caller that was idle for the longest time, of those that may be removed. A caller
/// with a running call or an open subscription stays.
fn longest_idle(
    known: &mut BTreeMap<CallerId, Arc<CallerCore>>,
    may_go: impl Fn(&CallerId) -> bool,
) -> Option<Arc<CallerCore>> {
    let idle = known
        .iter()
        .filter(|(id, own)| may_go(id) && Arc::strong_count(own) == 1);
    let (id, _) = idle.min_by_key(|(_, own)| *own.last_used.lock())?;
    let id = id.clone();
    known.remove(&id)
}

/// The error for a caller if there is no room for it.
fn busy(said: String) -> Reject {
    Reject::new(code::TOO_MANY_REQUESTS, said)
}

/// Provides the facts about callers' entries for policies.
pub(crate) struct CallersDirectory(pub(crate) Weak<Callers>);

impl Directory for CallersDirectory {
    fn facts(&self, caller: &Caller, kind: EntryKind, name: &str) -> Option<EntryFacts> {
        let callers = self.0.upgrade()?;
        if callers.share_all() {
            return callers.shared.facts(kind, name);
        }
        let servers = callers.servers();
        let meant = sign_in::find(&servers, name)
            .filter(|server| kind == EntryKind::Tool && !callers.has_own_tool(caller, server));
        match meant {
            Some(server) => Some(sign_in::facts(server)),
            // This caller has more entries than those of the shared servers.
            None => callers.known(caller)?.core.facts(kind, name),
        }
    }

    fn is_unlisted(&self, caller: &Caller, kind: EntryKind, name: &str) -> bool {
        let Some(callers) = self.0.upgrade() else {
            return false;
        };
        if callers.share_all() {
            return callers.shared.is_unlisted(kind, name);
        }
        let own = callers.known(caller).filter(|own| own.is_settled());
        own.is_some_and(|own| {
            sign_in::find(&callers.servers(), name).is_none() && own.core.is_unlisted(kind, name)
        })
    }

    fn set_hides_entries(&self, hides: bool) {
        if let Some(callers) = self.0.upgrade() {
            callers.shared.set_hides_entries(hides);
        }
    }

    fn lists_changed(&self) {
        if let Some(callers) = self.0.upgrade() {
            callers.shared.lists_changed();
        }
    }

    fn continues(&self, request: &RelayedRequest<'_>, state: &str) -> bool {
        let callers = self.0.upgrade();
        callers.is_some_and(|callers| callers.shared.context.continues(request, state))
    }

    fn settling(&self, caller: &Caller) -> Option<BoxFuture<'static, Result<(), Reject>>> {
        let callers = self.0.upgrade()?;
        if callers.share_all() {
            let time = callers.shared.settling()?;
            return Some(Box::pin(async move {
                let _ = time::timeout(time, callers.shared.listed()).await;
                Ok(())
            }));
        }
        if callers.known(caller).is_some_and(|own| own.is_settled()) {
            return None;
        }
        let caller = caller.clone();
        Some(Box::pin(async move {
            let own = callers.open(&caller).await?;
            let _ = time::timeout(STARTS_WITHIN, own.core.settled()).await;
            Ok(())
        }))
    }
}

#[cfg(test)]
mod tests {
    use turnbuckle_host::ServerSpec;

    use super::{super::SignIn, *};
    use crate::Gateway;

    /// A server that no caller has credentials for.
    struct Closed;

    impl CallerAccess for Closed {
        fn server_for<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Option<ServerSpec>> {
            Box::pin(async { None })
        }

        fn sign_in<'a>(&'a self, _: &'a Caller) -> BoxFuture<'a, Result<SignIn, String>> {
            Box::pin(async { Err("it is closed".to_owned()) })
        }
    }

    #[tokio::test]
    async fn reading_the_metrics_keeps_no_caller() {
        let gateway = Gateway::new("gateway", "1")
            .server_per_caller("own", Arc::new(Closed), UpstreamSettings::new())
            .open()
            .expect("a gateway");
        let callers = gateway.callers();
        for number in 0..MAX_CALLERS {
            let caller = Caller::new(format!("caller-{number}"));
            callers.open(&caller).await.expect("there is room");
        }
        let read = callers.all();
        let late = callers.open(&Caller::new("late")).await;
        assert!(late.is_ok(), "an idle caller makes room");
        assert_eq!(read.len(), MAX_CALLERS);
        gateway.close().await;
    }
}
