//! Serves requests of callers that have their own connections to some servers.

use std::{sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use tokio::{task::AbortHandle, time};
use turnbuckle_protocol::{SubscriptionFilter, http::ParamHeaders};
use turnbuckle_server::{
    Caller, OwnedRelayedRequest, Reject, Relay, RelayListen, RelayOffer, RelayReply, RelayTasks,
    RelayedRequest,
};

use super::{
    callers::{CallerCore, Callers, PersonalServer},
    sign_in::{self, SignInCall},
};
use crate::{
    core::{CoreRelay, Follower, Subscribed},
    exchange,
    operation::{Admitted, Asking, Judged, is_task_request_of_replica},
};

/// The first pause before a subscription tries again to open the caller's servers.
const OPEN_AGAIN: Duration = Duration::from_secs(1);

/// The longest such pause.
const MAX_OPEN_AGAIN: Duration = Duration::from_mins(1);

/// The relay of a gateway with servers that each caller reaches with its own credentials.
pub(crate) struct PersonalRelay {
    callers: Arc<Callers>,
    asking: Arc<Asking>,
    /// The servers that all callers share.
    shared: CoreRelay,
}

impl PersonalRelay {
    pub(crate) fn new(callers: &Arc<Callers>, asking: Asking) -> Self {
        Self {
            shared: CoreRelay(Arc::clone(&callers.shared)),
            callers: Arc::clone(callers),
            asking: Arc::new(asking),
        }
    }
}

impl PersonalRelay {
    /// Whether another replica requests the tasks of a caller that has none here. The caller's own
    /// servers are not opened for this.
    fn is_list_of_none(&self, request: &RelayedRequest<'_>) -> bool {
        let tasks = &self.callers.shared.context.tasks;
        request.method() == "tasks/list"
            && is_task_request_of_replica(request)
            && !tasks.has_any_of(request.caller().id())
    }
}

impl Relay for PersonalRelay {
    fn offer(&self, caller: &Caller) -> RelayOffer {
        if self.callers.share_all() {
            return self.shared.offer(caller);
        }
        let mut offer = CoreRelay(self.callers.core(caller)).offer(caller);
        // What the caller's own servers offer is unknown before they are opened, and clients read
        // the capabilities only once.
        let all = &mut offer.capabilities;
        all.tools.get_or_insert_default().list_changed = Some(true);
        all.prompts.get_or_insert_default().list_changed = Some(true);
        let resources = all.resources.get_or_insert_default();
        resources.list_changed = Some(true);
        resources.subscribe = Some(true);
        all.completions.get_or_insert_default();
        all.logging.get_or_insert_default();
        offer
    }

    fn serve(&self, request: RelayedRequest<'_>) -> Option<BoxFuture<'static, RelayReply>> {
        if self.callers.share_all() {
            return self.shared.serve(request);
        }
        let callers = Arc::clone(&self.callers);
        let caller = request.caller().clone();
        let kept = request.to_owned_request();
        if let Some(call) = SignInCall::read(&request, &callers.servers(), &self.asking) {
            // A server may have a tool of this name itself. A policy knows about it only if the
            // caller had the server before this request; otherwise the gateway's tool answers.
            let is_servers_own = callers.has_own_tool(&caller, call.server());
            let judged = Admitted::judged(&request).cloned();
            return Some(Box::pin(async move {
                let own = match callers.open(&caller).await {
                    Ok(own) => own,
                    Err(reject) => return reject.into(),
                };
                if is_servers_own && own.core.has(&call.server().id) {
                    return served(&kept, &own).await;
                }
                if judged.is_some_and(|judged| !judged.is(Some(&sign_in::facts(call.server())))) {
                    return Judged::outdated().into();
                }
                call.run(&own, &caller).await
            }));
        }
        if self.is_list_of_none(&request) {
            return CoreRelay(callers.core(&caller)).serve(request);
        }
        let is_tools = request.method() == "tools/list";
        Some(Box::pin(async move {
            let own = match callers.open(&caller).await {
                Ok(own) => own,
                Err(reject) => return reject.into(),
            };
            match served(&kept, &own).await {
                RelayReply::Result(result) if is_tools => {
                    let servers = callers.servers();
                    let is_wanted = |server: &&Arc<PersonalServer>| {
                        !own.core.has(&server.id) || server.access.wants_more(&caller)
                    };
                    let missing = servers.iter().filter(is_wanted);
                    RelayReply::Result(sign_in::add_tools(result, missing))
                }
                other => other,
            }
        }))
    }

    fn listen(&self, request: &RelayedRequest<'_>, wanted: &SubscriptionFilter) -> RelayListen {
        if self.callers.share_all() {
            return self.shared.listen(request, wanted);
        }
        let own = self.callers.known(request.caller());
        let core = own.as_ref().map_or(&self.callers.shared, |own| &own.core);
        let mut listen = CoreRelay(Arc::clone(core)).listen(request, wanted);
        // The caller's own servers may have lists that no shared server has.
        let accepted = &mut listen.accepted;
        accepted.tools_list_changed = wanted.wants_tools().then_some(true);
        accepted.prompts_list_changed = wanted.wants_prompts().then_some(true);
        accepted.resources_list_changed = wanted.wants_resources().then_some(true);
        let guard = listen.guard.take();
        listen.guard = Some(match own {
            // The caller's sessions stay open for as long as the subscription does.
            Some(own) if own.is_settled() => Box::new((guard, own)),
            _ => {
                let accepted = accepted.resource_subscriptions.get_or_insert_default();
                let rest = wanted.resources().iter();
                let rest: Vec<_> = rest
                    .filter(|uri| !accepted.contains(uri))
                    .cloned()
                    .collect();
                // It will not be known in time for the answer whether the caller's own servers have
                // these resources.
                accepted.extend_from_slice(&rest);
                let later = ListenLater {
                    callers: Arc::clone(&self.callers),
                    follower: Follower::of(request),
                    rest,
                };
                let task = tokio::spawn(later.run(request.caller().clone()));
                Box::new((guard, AbortOnDrop(task.abort_handle())))
            }
        });
        let resources = &mut listen.accepted.resource_subscriptions;
        *resources = resources.take().filter(|all| !all.is_empty());
        listen
    }

    fn listen_tasks(&self, request: &RelayedRequest<'_>, ids: &[String]) -> Option<RelayTasks> {
        if self.callers.share_all() {
            return self.shared.listen_tasks(request, ids);
        }
        let (callers, caller) = (Arc::downgrade(&self.callers), request.caller().clone());
        let look = move || {
            let (callers, caller) = (callers.upgrade(), caller.clone());
            Box::pin(async move {
                let callers = callers?;
                match callers.open(&caller).await {
                    Ok(own) => Some(own.core.parts()),
                    Err(_) => Some(callers.core(&caller).parts()),
                }
            }) as BoxFuture<'static, _>
        };
        exchange::follow_tasks(look, request, ids)
    }

    fn param_headers(&self, caller: &Caller, tool: &str) -> Option<Arc<ParamHeaders>> {
        CoreRelay(self.callers.core(caller)).param_headers(caller, tool)
    }
}

/// The part of a subscription that has to wait for the caller's own servers.
struct ListenLater {
    callers: Arc<Callers>,
    follower: Follower,
    rest: Vec<String>,
}

impl ListenLater {
    /// Opens the caller's servers and follows the remaining resources, until it is aborted.
    async fn run(self, caller: Caller) {
        let mut pause = OPEN_AGAIN;
        let own = loop {
            match self.callers.open(&caller).await {
                Ok(own) => break own,
                Err(_) => time::sleep(pause).await,
            }
            pause = (pause * 2).min(MAX_OPEN_AGAIN);
        };
        let (mut rest, mut followed) = (self.rest, Vec::new());
        loop {
            let (ours, shared) = (own.core.rerouted(), self.callers.shared.rerouted());
            rest.retain(|uri| {
                let Some(follow) = own.core.follow(&self.follower, uri, Subscribed::NotYet) else {
                    return true;
                };
                followed.push(follow);
                // The resource may have changed since the client was answered.
                own.core.tell_changed(uri);
                false
            });
            if rest.is_empty() {
                // Both are held for as long as the subscription is open.
                return std::future::pending().await;
            }
            // The server of a resource may be starting, or be found later.
            tokio::select! {
                biased;
                () = ours => {}
                () = shared => self.callers.sync(&own),
            }
        }
    }
}

struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn served(kept: &OwnedRelayedRequest, own: &CallerCore) -> RelayReply {
    match kept.serve(&CoreRelay(Arc::clone(&own.core))) {
        Some(work) => work.await,
        None => Reject::internal("the gateway does not serve this method").into(),
    }
}
