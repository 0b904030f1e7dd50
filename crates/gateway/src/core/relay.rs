//! Answers requests of clients for the gateway's own server, which clients connect to.

use std::{
    borrow::Cow,
    sync::{Arc, atomic::Ordering},
};

use futures_core::future::BoxFuture;
use tokio::time;
use turnbuckle_protocol::{
    Revision, SubscriptionFilter,
    envelope::{Raw, RawText},
    http::ParamHeaders,
    method::{self, Direction},
};
use turnbuckle_server::{
    Caller, Reject, Relay, RelayListen, RelayOffer, RelayReply, RelayTasks, RelayedRequest,
};

use super::{Core, Follower, Subscribed, state::STARTS_WITHIN};
use crate::{
    exchange::{self, Route},
    gateways,
    observe::{RecordEnd, RequestRecord},
    operation::{Admitted, Judged, check_readable, is_task_request_of_replica},
    routes::Kind,
    translate::{self, FrontRequest},
    upstream::Member,
};

/// The core as the relay of the gateway's own server.
pub(crate) struct CoreRelay(pub(crate) Arc<Core>);

impl Relay for CoreRelay {
    fn offer(&self, caller: &Caller) -> RelayOffer {
        self.0.offer(caller)
    }

    fn serve(&self, request: RelayedRequest<'_>) -> Option<BoxFuture<'static, RelayReply>> {
        let recorder = self.0.recorder.as_ref();
        let recorder = recorder.filter(|_| !is_task_request_of_replica(&request));
        let Some(record) = recorder.and_then(|recorder| recorder.begin(&request)) else {
            return Some(self.0.serve(&request, None));
        };
        let end = RecordEnd::new(Arc::clone(&record));
        let served = self.0.serve(&request, Some(record));
        Some(Box::pin(async move {
            let reply = served.await;
            end.reply(&reply);
            reply
        }))
    }

    fn listen(&self, request: &RelayedRequest<'_>, wanted: &SubscriptionFilter) -> RelayListen {
        let mut accepted = SubscriptionFilter::new();
        let offer = self.0.offer(request.caller()).capabilities;
        let follower = Follower::of(request);
        let granted = |is_wanted: bool, is_there: bool| (is_wanted && is_there).then_some(true);
        accepted.tools_list_changed = granted(wanted.wants_tools(), offer.tools.is_some());
        accepted.prompts_list_changed = granted(wanted.wants_prompts(), offer.prompts.is_some());
        accepted.resources_list_changed =
            granted(wanted.wants_resources(), offer.resources.is_some());
        let mut followed = Vec::new();
        for uri in wanted.resources() {
            if let Some(follow) = self.0.follow(&follower, uri, Subscribed::NotYet) {
                followed.push(follow);
                accepted
                    .resource_subscriptions
                    .get_or_insert_default()
                    .push(uri.clone());
            }
        }
        RelayListen::new(accepted, followed)
    }

    fn listen_tasks(&self, request: &RelayedRequest<'_>, ids: &[String]) -> Option<RelayTasks> {
        let core = Arc::downgrade(&self.0);
        let look = move || {
            let core = core.upgrade().map(|core| core.parts());
            Box::pin(std::future::ready(core)) as BoxFuture<'static, _>
        };
        exchange::follow_tasks(look, request, ids)
    }

    fn param_headers(&self, _: &Caller, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.0.routes().headers(tool)
    }
}

impl Core {
    /// The context and the servers that a request needs.
    pub(crate) fn parts(&self) -> (Arc<exchange::Context>, Vec<Arc<Member>>) {
        (Arc::clone(&self.context), self.members())
    }

    /// Serves a request, and records what is sent to servers for it.
    fn serve(
        self: &Arc<Self>,
        request: &RelayedRequest<'_>,
        record: Option<Arc<RequestRecord>>,
    ) -> BoxFuture<'static, RelayReply> {
        let meta = request.meta().and_then(|meta| meta.raw);
        if let Err(reject) = gateways::check(meta, &self.common.gateway) {
            return Box::pin(std::future::ready(reject.into()));
        }
        if is_foreign(request.method(), request.revision()) && !is_list_of_replica(request) {
            let reject = Reject::method_not_found(request.method());
            return Box::pin(std::future::ready(reject.into()));
        }
        // An operation has checked its requests before it judged them.
        if !Admitted::has(request)
            && let Err(reject) = check_readable(request)
        {
            return Box::pin(std::future::ready(reject.into()));
        }
        let params = request.params().unwrap_or(Raw::EMPTY_OBJECT);
        let judged = Admitted::judged(request);
        let seen = Admitted::seen(request);
        if let Some(kind) = Kind::of(request.method())
            && (seen.is_some() || !self.passes_lists())
        {
            let cursor = request.members().text("cursor");
            if let Some(time) = self.settling() {
                let (core, revision) = (Arc::clone(self), request.revision());
                let (cursor, seen) = (cursor.map(Cow::into_owned), seen.cloned());
                return Box::pin(async move {
                    let _ = time::timeout(time, core.listed()).await;
                    let routes = core.routes();
                    let page = routes.page(kind, revision, cursor.as_deref(), seen.as_ref());
                    page.map_or_else(RelayReply::from, RelayReply::Result)
                });
            }
            let routes = self.routes();
            let page = routes.page(kind, request.revision(), cursor.as_deref(), seen);
            let reply = page.map_or_else(RelayReply::from, RelayReply::Result);
            return Box::pin(std::future::ready(reply));
        }
        let method = request.method();
        if matches!(method, "resources/subscribe" | "resources/unsubscribe")
            && !request.revision().is_modern()
        {
            let reply = match request.members().text("uri") {
                None => Reject::invalid_params("`params.uri` must be a string").into(),
                Some(uri) if method == "resources/subscribe" => {
                    let (core, front) = (Arc::clone(self), request.client_channel().clone());
                    let (follower, uri) = (Follower::of(request), uri.into_owned());
                    if let Err(reject) = self.check(judged, None) {
                        return Box::pin(std::future::ready(reject.into()));
                    }
                    return Box::pin(async move { core.subscribe(&front, &follower, &uri).await });
                }
                Some(uri) => Core::unsubscribe(request.client_channel(), &uri),
            };
            return Box::pin(std::future::ready(reply));
        }
        if exchange::is_task_method(method) {
            let (context, members) = (Arc::clone(&self.context), self.members());
            let request = FrontRequest::new(request, record);
            return Box::pin(exchange::serve_task(context, request, members));
        }
        let route = match self.route(method, params) {
            Ok(route) => match self.check(judged, Some(&route)) {
                Ok(()) if self.may_change(request, &route) => {
                    let found = WaitingRequest::new(request, record);
                    return Box::pin(Arc::clone(self).serve_when_ready(found, route.member));
                }
                Ok(()) => route,
                Err(reject) => return Box::pin(std::future::ready(reject.into())),
            },
            Err(reject) => {
                let Some(time) = self.settling() else {
                    return Box::pin(std::future::ready(reject.into()));
                };
                // The server that has the entry may be about to list it.
                let (core, request) = (Arc::clone(self), WaitingRequest::new(request, record));
                return Box::pin(async move {
                    let _ = time::timeout(time, core.listed()).await;
                    core.serve_again(request).await
                });
            }
        };
        let request = FrontRequest::new(request, record);
        let context = Arc::clone(&self.context);
        Box::pin(exchange::serve(context, request, route))
    }

    /// Whether the lock or a rule has decided about an entry that may be another one when its server is ready.
    fn may_change(&self, request: &RelayedRequest<'_>, route: &Route) -> bool {
        let is_judged = || Admitted::judged(request).is_some();
        let is_pinned = || {
            let params = request.params().unwrap_or(Raw::EMPTY_OBJECT);
            self.is_pinned(request.method(), params)
        };
        (is_judged() || is_pinned()) && !route.member.upstream.state().is_ready()
    }

    /// Serves a request when the lists of its server have been read.
    async fn serve_when_ready(
        self: Arc<Self>,
        request: WaitingRequest,
        member: Arc<Member>,
    ) -> RelayReply {
        let server = member.id.as_str();
        if let Err(failure) = member.upstream.connection().await {
            return translate::unavailable(server, &failure.reason);
        }
        let listed = member.upstream.settled_since(time::Instant::now());
        if time::timeout(STARTS_WITHIN, listed).await.is_err() {
            let said = format!("server `{server}` is still starting; try again later");
            return Reject::internal(said).into();
        }
        self.serve_again(request).await
    }

    /// Serves a request that has waited for lists of servers.
    async fn serve_again(self: Arc<Self>, request: WaitingRequest) -> RelayReply {
        let WaitingRequest {
            request,
            params,
            judged,
        } = request;
        let route = match self.route(&request.method, params.raw()) {
            Ok(route) => route,
            Err(reject) => return reject.into(),
        };
        match self.check(judged.as_ref(), Some(&route)) {
            Ok(()) => exchange::serve(Arc::clone(&self.context), request, route).await,
            Err(reject) => reject.into(),
        }
    }

    /// Whether lists are passed on from the only server, with its own pages.
    pub(super) fn passes_lists(&self) -> bool {
        let is_ready = |member: &Arc<Member>| member.upstream.state().is_ready();
        self.will_pass_lists() && self.only().as_ref().is_some_and(is_ready)
    }

    /// Sets whether the policy can hide entries from lists.
    pub(crate) fn set_hides_entries(&self, hides: bool) {
        self.common.hides_entries.store(hides, Ordering::Relaxed);
    }

    /// Whether there is a single server whose lists are passed on once it is ready.
    pub(super) fn will_pass_lists(&self) -> bool {
        // The entries of another gateway are listed with the path of gateways that they came through.
        let is_server = |member: Arc<Member>| !member.plan.peer.is_gateway();
        let hides_entries = self.common.hides_entries.load(Ordering::Relaxed);
        !hides_entries
            // Clients must see exactly the lists that were compared with the lock.
            && !self.enforces_lock()
            && self.only().is_some_and(is_server)
    }
}

/// A request that waits for lists of servers.
struct WaitingRequest {
    request: FrontRequest,
    params: RawText,
    judged: Option<Judged>,
}

impl WaitingRequest {
    fn new(request: &RelayedRequest<'_>, record: Option<Arc<RequestRecord>>) -> Self {
        Self {
            params: RawText::from(request.params().unwrap_or(Raw::EMPTY_OBJECT)),
            judged: Admitted::judged(request).cloned(),
            request: FrontRequest::new(request, record),
        }
    }
}

/// Whether another replica of the gateway requests the tasks of a legacy client. Replicas send each
/// other modern requests, and `tasks/list` is not a method of the modern era.
fn is_list_of_replica(request: &RelayedRequest<'_>) -> bool {
    request.method() == "tasks/list" && is_task_request_of_replica(request)
}

/// Whether the protocol has this method, but not in the client's revision.
fn is_foreign(method: &str, revision: Revision) -> bool {
    if revision.is_modern() && matches!(method, "tasks/result" | "tasks/list") {
        // The extension replaces both methods.
        return true;
    }
    let is_known = method::find(method).is_some();
    let is_of_extension = method::extension(method, revision).is_some();
    is_known && !is_of_extension && !method::available(method, revision, Direction::ToServer)
}
