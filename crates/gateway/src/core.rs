//! The gateway at work: its servers, what they offer together, and where each request goes.

use std::{
    borrow::Cow,
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use futures_core::future::BoxFuture;
use tokio::time;
use turnbuckle_base::lock::{Mutex, RwLock};
use turnbuckle_client::{Change, Client, Target};
use turnbuckle_host::{
    Failure, ServerId, ServerSpec, ServerState,
    shared::{Fleet, FleetHooks, Upstream},
};
use turnbuckle_protocol::{
    JsonObject, Revision, ServerCapabilities, SubscriptionFilter, TASKS_EXTENSION,
    envelope::{self, Raw, RawText},
    http::ParamHeaders,
    method::{self, Direction},
};
use turnbuckle_server::{
    Caller, Changes, Front, Reject, Relay, RelayListen, RelayOffer, RelayReply, Relayed,
};

use crate::{
    exchange::{self, Context, Route},
    lock::{Lock, LockKind, LockMode, Offered},
    operation::{Directory, EntryFacts, EntryKind},
    routes::{Kind, Routes},
    settings::{Naming, UpstreamSettings},
    translate::{FrontRequest, text_of},
    upstream::{Common, Member, Plan},
};

/// How long after its opening a gateway lets lists wait for servers that are starting.
const STARTS_WITHIN: Duration = Duration::from_secs(10);

/// Hears of the states of servers.
pub(crate) type OnState = Arc<dyn Fn(&ServerId, &ServerState) + Send + Sync>;

/// The gateway at work.
pub(crate) struct Core {
    pub(crate) context: Arc<Context>,
    common: Arc<Common>,
    naming: Naming,
    on_state: Option<OnState>,
    plans: RwLock<HashMap<ServerId, Arc<Plan>>>,
    members: RwLock<Vec<Arc<Member>>>,
    routes: RwLock<Arc<Routes>>,
    generation: AtomicU64,
    fleet: OnceLock<Fleet>,
    opened: Instant,
    changes: Arc<OnceLock<Changes>>,
    lock: OnceLock<Lock>,
}

impl Core {
    pub(crate) fn new(
        context: Context,
        common: Common,
        naming: Naming,
        on_state: Option<OnState>,
    ) -> Self {
        Self {
            changes: Arc::clone(&context.changes),
            context: Arc::new(context),
            common: Arc::new(common),
            naming,
            on_state,
            plans: RwLock::default(),
            members: RwLock::default(),
            routes: RwLock::default(),
            generation: AtomicU64::new(1),
            fleet: OnceLock::new(),
            opened: Instant::now(),
            lock: OnceLock::new(),
        }
    }

    /// Gives it the servers' keeper, and the way to tell clients of changes.
    pub(crate) fn start(&self, fleet: Fleet, changes: Changes) {
        let _ = self.fleet.set(fleet);
        let _ = self.changes.set(changes);
    }

    /// Pins what servers offer.
    pub(crate) fn set_lock(&self, lock: Lock) {
        let _ = self.lock.set(lock);
    }

    pub(crate) fn lock(&self) -> Option<&Lock> {
        self.lock.get()
    }

    /// Notes what a server that answers offers.
    fn observe(&self, server: &Upstream) {
        if let (Some(lock), Some(connection)) = (self.lock.get(), server.live()) {
            let offered = Offered::new(&server.lists(), connection.server().instructions());
            lock.observe(server.id().as_str(), offered);
        }
    }

    /// Looks at all servers anew.
    pub(crate) fn observe_all(&self) {
        for member in self.members() {
            self.observe(&member.upstream);
        }
        self.reroute();
    }

    pub(crate) fn fleet(&self) -> Option<&Fleet> {
        self.fleet.get()
    }

    /// Adds a server, in place of one that had the same name.
    pub(crate) fn add(&self, id: &ServerId, spec: ServerSpec, settings: UpstreamSettings) {
        let plan = Arc::new(Plan::new(spec.clone(), settings, Arc::clone(&self.common)));
        self.plans.write().insert(id.clone(), Arc::clone(&plan));
        let Some(fleet) = self.fleet.get() else {
            return;
        };
        let upstream = fleet.add(id.clone(), spec);
        let member = Arc::new(Member::new(id.clone(), plan, upstream));
        {
            let mut members = self.members.write();
            match members.iter_mut().find(|other| other.id == *id) {
                Some(place) => *place = member,
                None => members.push(member),
            }
        }
        self.reroute();
    }

    /// Removes a server and waits for its end.
    pub(crate) async fn remove(&self, id: &ServerId) -> bool {
        self.plans.write().remove(id);
        self.members.write().retain(|member| member.id != *id);
        if let Some(lock) = self.lock.get() {
            lock.forget(id.as_str());
        }
        self.reroute();
        match self.fleet.get() {
            Some(fleet) => fleet.remove(id).await,
            None => false,
        }
    }

    pub(crate) fn members(&self) -> Vec<Arc<Member>> {
        self.members.read().clone()
    }

    fn routes(&self) -> Arc<Routes> {
        Arc::clone(&self.routes.read())
    }

    /// The server of a tool or prompt, and what the server calls it.
    pub(crate) fn owner(&self, name: &str) -> Option<(ServerId, String)> {
        if let Some(member) = self.only() {
            return Some((member.id.clone(), name.to_owned()));
        }
        let routes = self.routes();
        let entry = routes.find(Kind::Tools, name);
        let entry = entry.or_else(|| routes.find(Kind::Prompts, name))?;
        Some((entry.server.clone(), entry.own.to_string()))
    }

    /// Merges the lists anew, and tells clients of those that changed.
    pub(crate) fn reroute(&self) {
        let generation = self.generation.fetch_add(1, Ordering::Relaxed);
        let routes = Arc::new(Routes::new(
            &self.members(),
            self.naming,
            generation,
            self.lock.get(),
        ));
        let before = std::mem::replace(&mut *self.routes.write(), Arc::clone(&routes));
        let Some(changes) = self.changes.get() else {
            return;
        };
        let mut are_resources_told = false;
        for kind in routes.differing(&before) {
            match kind {
                Kind::Tools => changes.tools(),
                Kind::Prompts => changes.prompts(),
                Kind::Resources | Kind::Templates => {
                    if !std::mem::replace(&mut are_resources_told, true) {
                        changes.resources();
                    }
                }
            }
        }
    }

    /// How long requests may wait for servers that are still starting; `None` if none is, or the gateway
    /// has been open for a while. Clients list once when they have connected, and many never again.
    fn settling(&self) -> Option<Duration> {
        let left = STARTS_WITHIN.checked_sub(self.opened.elapsed())?;
        let members = self.members.read();
        let mut states = members.iter().map(|member| member.upstream.state());
        let is_starting = |state| matches!(state, ServerState::Starting);
        states.any(is_starting).then_some(left)
    }

    /// Waits until each server is ready or has failed.
    pub(crate) async fn settled(&self) {
        for member in self.members() {
            member.upstream.settled().await;
        }
    }

    /// The only server, if its entries are offered as they are.
    fn only(&self) -> Option<Arc<Member>> {
        let members = self.members.read();
        match &**members {
            [one] if self.naming != Naming::Prefixed => Some(Arc::clone(one)),
            _ => None,
        }
    }

    fn member(&self, id: &ServerId) -> Option<Arc<Member>> {
        let members = self.members.read();
        members.iter().find(|member| member.id == *id).cloned()
    }

    /// Where a request goes.
    fn route(&self, method: &str, params: Raw<'_>) -> Result<Route, Reject> {
        let text = |path: &[&str]| params.at(path).and_then(text_of);
        if let Some(member) = self.only() {
            if let Some(lock) = self.lock.get()
                && let Some((kind, name)) = named(method, params)
                && lock.withholds(member.id.as_str(), kind, &name)
            {
                return Err(withheld(kind, member.id.as_str(), &name));
            }
            return Ok(Route { member, name: None });
        }
        let routes = self.routes();
        let by_name = |kind, path: &'static [&'static str]| {
            let name = text(path).ok_or_else(|| {
                Reject::invalid_params(format!("`params.{}` must be a string", path.join(".")))
            })?;
            let unknown = || Reject::invalid_params(format!("there is no `{name}` here"));
            if let Some((kind, server, own)) = routes.withheld(kind, &name) {
                return Err(withheld(kind, server.as_str(), own));
            }
            let entry = routes.find(kind, &name).ok_or_else(unknown)?;
            let member = self.member(&entry.server).ok_or_else(unknown)?;
            let own = entry.own.to_string();
            let name = (own != name).then_some((path, own));
            Ok(Route { member, name })
        };
        let by_uri = |path: &'static [&'static str]| {
            let uri = text(path).ok_or_else(|| {
                Reject::invalid_params(format!("`params.{}` must be a string", path.join(".")))
            })?;
            let owner = routes.owner(&uri);
            let owner = owner.or_else(|| {
                let entry = routes.find(Kind::Templates, &uri)?;
                Some(entry.server.clone())
            });
            let member = owner.and_then(|id| self.member(&id));
            let member = member.ok_or_else(|| Reject::resource_not_found(&uri))?;
            Ok(Route { member, name: None })
        };
        match method {
            "tools/call" => by_name(Kind::Tools, &["name"]),
            "prompts/get" => by_name(Kind::Prompts, &["name"]),
            "resources/read" | "resources/subscribe" | "resources/unsubscribe" => by_uri(&["uri"]),
            "completion/complete" if text(&["ref", "type"]).as_deref() == Some("ref/prompt") => {
                by_name(Kind::Prompts, &["ref", "name"])
            }
            "completion/complete" => by_uri(&["ref", "uri"]),
            _ => self
                .extended()
                .map(|member| Route { member, name: None })
                .ok_or_else(|| Reject::method_not_found(method)),
        }
    }

    /// The only server with extensions: a method that the protocol does not have goes there.
    fn extended(&self) -> Option<Arc<Member>> {
        let members = self.members.read();
        let mut extended = members.iter().filter(|member| {
            let state = member.upstream.state();
            let ServerState::Ready(ready) = state else {
                return false;
            };
            let can = ready.capabilities.as_ref();
            can.is_some_and(|can| can.extensions.as_ref().is_some_and(|all| !all.is_empty()))
        });
        let first = extended.next()?;
        extended.next().is_none().then(|| Arc::clone(first))
    }

    /// Hears of changes to a resource, for as long as the guard is kept.
    fn follow(&self, uri: &str) -> Option<Follow> {
        let member = match self.only() {
            Some(member) => member,
            None => self.member(&self.routes().owner(uri)?)?,
        };
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

    fn subscribe(&self, front: &Front, uri: &str) -> RelayReply {
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

    fn unsubscribe(front: &Front, uri: &str) -> RelayReply {
        front.unsubscribe(uri);
        if let Some(kept) = front.session_state::<SessionState>() {
            let followed = kept.followed.lock().remove(uri);
            drop(followed);
        }
        RelayReply::Result(b"{}".to_vec())
    }
}

/// What is kept with the session of a legacy client.
#[derive(Default)]
struct SessionState {
    followed: Mutex<HashMap<String, Follow>>,
}

/// A resource whose changes are followed. Dropping it ends that.
struct Follow {
    upstream: Arc<Upstream>,
    uri: Arc<str>,
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.upstream.unfollow(&self.uri);
    }
}

/// The core as the server asks it.
pub(crate) struct CoreRelay(pub(crate) Arc<Core>);

impl Relay for CoreRelay {
    fn offer(&self, _: &Caller) -> RelayOffer {
        let members = self.0.members();
        let routes = self.0.routes();
        let mut all = ServerCapabilities::default();
        let mut is_known = true;
        let mut instructions = Vec::new();
        for member in &members {
            match member.upstream.state() {
                ServerState::Ready(ready) => {
                    if let Some(can) = &ready.capabilities {
                        add(&mut all, can, members.len() == 1);
                    } else {
                        is_known = false;
                    }
                    let server = member.id.as_str();
                    let is_withheld = self
                        .0
                        .lock
                        .get()
                        .is_some_and(|lock| lock.withholds(server, LockKind::Instructions, ""));
                    if let Some(text) = &ready.instructions
                        && !is_withheld
                    {
                        instructions.push((member.id.to_string(), text.clone()));
                    }
                }
                ServerState::Starting | ServerState::Restarting { .. } | ServerState::Idle => {
                    is_known = false;
                }
                _ => {}
            }
        }
        if !is_known || routes.has_any(Kind::Tools) {
            all.tools.get_or_insert_default();
        }
        if !is_known || routes.has_any(Kind::Prompts) {
            all.prompts.get_or_insert_default();
        }
        if !is_known || routes.has_any(Kind::Resources) || routes.has_any(Kind::Templates) {
            let resources = all.resources.get_or_insert_default();
            if !is_known {
                resources.subscribe = Some(true);
            }
        }
        if !is_known {
            all.logging.get_or_insert_default();
            all.completions.get_or_insert_default();
        }
        // A gateway can always tell: servers come and go.
        if let Some(tools) = &mut all.tools {
            tools.list_changed = Some(true);
        }
        if let Some(prompts) = &mut all.prompts {
            prompts.list_changed = Some(true);
        }
        if let Some(resources) = &mut all.resources {
            resources.list_changed = Some(true);
        }
        let offer = RelayOffer::new(all);
        match &*instructions {
            [] => offer,
            [(_, one)] if members.len() == 1 => offer.with_instructions(one),
            several => {
                let parts: Vec<String> = several
                    .iter()
                    .map(|(server, text)| format!("# {server}\n\n{text}"))
                    .collect();
                offer.with_instructions(parts.join("\n\n"))
            }
        }
    }

    fn serve(&self, request: Relayed<'_>) -> Option<BoxFuture<'static, RelayReply>> {
        let core = &self.0;
        if is_foreign(request.method(), request.revision()) {
            let reject = Reject::method_not_found(request.method());
            return Some(Box::pin(std::future::ready(reject.into())));
        }
        let params = request.params().unwrap_or(Raw::EMPTY_OBJECT);
        if let Some(kind) = Kind::of(request.method())
            && !core.passes_lists()
        {
            let cursor = request.members().text("cursor");
            if let Some(time) = core.settling() {
                let (core, revision) = (Arc::clone(core), request.revision());
                let cursor = cursor.map(Cow::into_owned);
                return Some(Box::pin(async move {
                    let _ = time::timeout(time, core.settled()).await;
                    let page = core.routes().page(kind, revision, cursor.as_deref());
                    page.map_or_else(RelayReply::from, RelayReply::Result)
                }));
            }
            let page = core
                .routes()
                .page(kind, request.revision(), cursor.as_deref());
            let reply = page.map_or_else(RelayReply::from, RelayReply::Result);
            return Some(Box::pin(std::future::ready(reply)));
        }
        let method = request.method();
        if matches!(method, "resources/subscribe" | "resources/unsubscribe")
            && !request.revision().is_modern()
        {
            let reply = match request.members().text("uri") {
                None => Reject::invalid_params("`params.uri` must be a string").into(),
                Some(uri) if method == "resources/subscribe" => {
                    core.subscribe(request.front(), &uri)
                }
                Some(uri) => Core::unsubscribe(request.front(), &uri),
            };
            return Some(Box::pin(std::future::ready(reply)));
        }
        let route = match core.route(method, params) {
            Ok(route) => route,
            Err(reject) => {
                let Some(time) = core.settling() else {
                    return Some(Box::pin(std::future::ready(reject.into())));
                };
                // The server that has it may be about to say so.
                let (core, params) = (Arc::clone(core), RawText::from(params));
                let request = FrontRequest::new(&request);
                return Some(Box::pin(async move {
                    let _ = time::timeout(time, core.settled()).await;
                    match core.route(&request.method, params.raw()) {
                        Ok(route) => {
                            exchange::serve(Arc::clone(&core.context), request, route).await
                        }
                        Err(reject) => reject.into(),
                    }
                }));
            }
        };
        let bridged = core
            .bridged()
            .filter(|_| request.revision().is_modern() && exchange::is_task_method(method));
        let request = FrontRequest::new(&request);
        if let Some(member) = bridged {
            let context = Arc::clone(&core.context);
            return Some(Box::pin(exchange::serve_task(context, request, member)));
        }
        let context = Arc::clone(&core.context);
        Some(Box::pin(exchange::serve(context, request, route)))
    }

    fn listen(&self, _: &Front, wanted: &SubscriptionFilter) -> RelayListen {
        let mut accepted = SubscriptionFilter::new();
        let offer = self.offer(&Caller::local()).capabilities;
        let granted = |is_wanted: bool, is_there: bool| (is_wanted && is_there).then_some(true);
        accepted.tools_list_changed = granted(wanted.wants_tools(), offer.tools.is_some());
        accepted.prompts_list_changed = granted(wanted.wants_prompts(), offer.prompts.is_some());
        accepted.resources_list_changed =
            granted(wanted.wants_resources(), offer.resources.is_some());
        let mut followed = Vec::new();
        for uri in wanted.resources() {
            if let Some(follow) = self.0.follow(uri) {
                followed.push(follow);
                accepted
                    .resource_subscriptions
                    .get_or_insert_default()
                    .push(uri.clone());
            }
        }
        RelayListen::new(accepted, followed)
    }

    fn param_headers(&self, _: &Caller, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.0.routes().headers(tool)
    }
}

impl Core {
    /// The only server, if it is a legacy one whose tasks are offered as the extension (G18).
    fn bridged(&self) -> Option<Arc<Member>> {
        let member = self.only()?;
        let ServerState::Ready(ready) = member.upstream.state() else {
            return None;
        };
        let is_bridged = !ready.revision.is_modern()
            && ready
                .capabilities
                .as_ref()
                .is_some_and(|can| can.tasks.is_some());
        is_bridged.then_some(member)
    }

    /// Whether lists are those of the only server, as it pages them.
    fn passes_lists(&self) -> bool {
        // The lists that were compared are those that are shown.
        let is_enforced = |lock: &Lock| lock.mode() == LockMode::Enforce;
        if self.lock.get().is_some_and(is_enforced) {
            return false;
        }
        self.only().is_some_and(|member| {
            member.upstream.state().is_ready() && !member.plan.spec.filters_tools()
        })
    }
}

/// Whether the protocol has this method, but not in the revision of the client.
fn is_foreign(method: &str, revision: Revision) -> bool {
    if revision.is_modern() && matches!(method, "tasks/result" | "tasks/list") {
        // The extension has other ways to both.
        return true;
    }
    let is_known = method::find(method).is_some();
    let is_of_extension = method::extension(method, revision).is_some();
    is_known && !is_of_extension && !method::available(method, revision, Direction::ToServer)
}

/// The tool or prompt that a request names.
fn named<'a>(method: &str, params: Raw<'a>) -> Option<(LockKind, Cow<'a, str>)> {
    let (kind, path): (_, &[&str]) = match method {
        "tools/call" => (LockKind::Tool, &["name"]),
        "prompts/get" => (LockKind::Prompt, &["name"]),
        "completion/complete" => (LockKind::Prompt, &["ref", "name"]),
        _ => return None,
    };
    Some((kind, envelope::text_of(params.at(path)?)?))
}

/// Says what has to be done before this can be used.
fn withheld(kind: LockKind, server: &str, name: &str) -> Reject {
    let kind = kind.as_str();
    Reject::invalid_params(format!(
        "{kind} `{name}` of server `{server}` is not what was approved, and is withheld; the operator \
         of the gateway can look at it with `turnbuckle lock --check` and allow it with \
         `turnbuckle lock approve {server}/{name}`"
    ))
}

/// Adds what one server offers. Extensions are passed on where there is one server.
fn add(all: &mut ServerCapabilities, one: &ServerCapabilities, is_only: bool) {
    fn present(all: &mut Option<JsonObject>, one: Option<&JsonObject>) {
        if let Some(one) = one {
            all.get_or_insert_with(|| one.clone());
        }
    }
    present(&mut all.logging, one.logging.as_ref());
    present(&mut all.completions, one.completions.as_ref());
    if one.tools.is_some() {
        all.tools.get_or_insert_default();
    }
    if one.prompts.is_some() {
        all.prompts.get_or_insert_default();
    }
    if let Some(resources) = &one.resources {
        let all = all.resources.get_or_insert_default();
        if resources.subscribe == Some(true) {
            all.subscribe = Some(true);
        }
    }
    if is_only {
        all.extensions.clone_from(&one.extensions);
        all.experimental.clone_from(&one.experimental);
        all.tasks.clone_from(&one.tasks);
        if one.tasks.is_some() {
            // A modern client knows them as an extension.
            let extensions = all.extensions.get_or_insert_default();
            let tasks = TASKS_EXTENSION.to_owned();
            extensions
                .entry(tasks)
                .or_insert_with(|| JsonObject::new().into());
        }
    }
}

/// The core as a policy asks it.
pub(crate) struct CoreDirectory(pub(crate) std::sync::Weak<Core>);

impl Directory for CoreDirectory {
    fn facts(&self, _: &Caller, kind: EntryKind, name: &str) -> Option<EntryFacts> {
        let core = self.0.upgrade()?;
        let routes = core.routes();
        let found = match kind {
            EntryKind::Tool => routes.find(Kind::Tools, name),
            EntryKind::Prompt => routes.find(Kind::Prompts, name),
            EntryKind::Resource => {
                return Some(EntryFacts {
                    server: routes.owner(name)?.to_string(),
                    own: name.to_owned(),
                    ..EntryFacts::default()
                });
            }
        };
        if let Some(entry) = found {
            return Some(EntryFacts {
                server: entry.server.to_string(),
                own: entry.own.to_string(),
                annotations: entry.annotations(),
            });
        }
        let only = core.only()?;
        Some(EntryFacts {
            server: only.id.to_string(),
            own: name.to_owned(),
            ..EntryFacts::default()
        })
    }
}

/// The core as the fleet tells it.
pub(crate) struct CoreHooks(pub(crate) std::sync::Weak<Core>);

impl FleetHooks for CoreHooks {
    fn prepare<'a>(
        &'a self,
        server: &'a Arc<Upstream>,
    ) -> BoxFuture<'a, Result<(Client, Target), Failure>> {
        Box::pin(async move {
            let core = self.0.upgrade();
            let plan = core.and_then(|core| core.plans.read().get(server.id()).cloned());
            let Some(plan) = plan else {
                // It was removed a moment ago, and its supervisor is about to end.
                return std::future::pending().await;
            };
            Ok((plan.client(), plan.spec.way()?))
        })
    }

    fn state_changed(&self, server: &Upstream, state: &ServerState) {
        let Some(core) = self.0.upgrade() else { return };
        if state.is_ready() {
            // Its lists may be the same as before, and its instructions others.
            core.observe(server);
        }
        if let Some(on_state) = &core.on_state {
            on_state(server.id(), state);
        }
    }

    fn lists_changed(&self, server: &Upstream) {
        if let Some(core) = self.0.upgrade() {
            core.observe(server);
            core.reroute();
        }
    }

    fn list_announced(&self, _: &Upstream, change: &Change) {
        let Some(core) = self.0.upgrade() else { return };
        let Some(changes) = core.changes.get() else {
            return;
        };
        // A server may have other lists for this session than for another one: clients look themselves.
        match change {
            Change::ToolsChanged => changes.tools(),
            Change::PromptsChanged => changes.prompts(),
            Change::ResourcesChanged => changes.resources(),
            _ => {}
        }
    }

    fn resource_updated(&self, _: &Upstream, uri: &Arc<str>) {
        let Some(core) = self.0.upgrade() else { return };
        if let Some(changes) = core.changes.get() {
            changes.resource(&**uri);
        }
    }
}
