//! Requests of callers that may have servers of their own.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use turnbuckle_protocol::{SubscriptionFilter, http::ParamHeaders};
use turnbuckle_server::{
    Caller, Front, KeptRequest, Reject, Relay, RelayListen, RelayOffer, RelayReply, RelayTasks,
    Relayed,
};

use super::{
    callers::{CallerCore, Callers},
    sign_in::{self, SignInCall},
};
use crate::{core::CoreRelay, operation::Asking};

/// The relay of a gateway with servers that are reached with credentials of each caller.
pub(crate) struct PersonalRelay {
    callers: Arc<Callers>,
    asking: Arc<Asking>,
    /// The servers that all share.
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

impl Relay for PersonalRelay {
    fn offer(&self, caller: &Caller) -> RelayOffer {
        if self.callers.share_all() {
            return self.shared.offer(caller);
        }
        let mut offer = CoreRelay(self.callers.core(caller)).offer(caller);
        // What servers of the caller's own have is not known before they are opened, and clients look at
        // this once.
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

    fn serve(&self, request: Relayed<'_>) -> Option<BoxFuture<'static, RelayReply>> {
        if self.callers.share_all() {
            return self.shared.serve(request);
        }
        let callers = Arc::clone(&self.callers);
        let caller = request.caller().clone();
        let kept = request.keep();
        if let Some(call) = SignInCall::read(&request, &callers.servers(), &self.asking) {
            // A server may have a tool of this name itself. A policy knows it only if the caller had the
            // server before this request; otherwise the gateway's tool answers.
            let is_servers_own = callers.core(&caller).has(call.server());
            return Some(Box::pin(async move {
                let own = match callers.open(&caller).await {
                    Ok(own) => own,
                    Err(reject) => return reject.into(),
                };
                if is_servers_own && own.core.has(call.server()) {
                    return served(&kept, &own).await;
                }
                call.run(&callers, &own, &caller).await
            }));
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
                    let missing = servers.iter().filter(|server| !own.core.has(&server.id));
                    RelayReply::Result(sign_in::add_tools(result, missing))
                }
                other => other,
            }
        }))
    }

    fn listen(&self, front: &Front, wanted: &SubscriptionFilter) -> RelayListen {
        let Some(own) = self.callers.known(front.caller()) else {
            return self.shared.listen(front, wanted);
        };
        let mut listen = CoreRelay(Arc::clone(&own.core)).listen(front, wanted);
        // Its sessions stay open for as long as the subscription does.
        listen.guard = Some(Box::new((listen.guard.take(), own)));
        listen
    }

    fn listen_tasks(&self, request: &Relayed<'_>, ids: &[String]) -> Option<RelayTasks> {
        CoreRelay(self.callers.core(request.caller())).listen_tasks(request, ids)
    }

    fn param_headers(&self, caller: &Caller, tool: &str) -> Option<Arc<ParamHeaders>> {
        CoreRelay(self.callers.core(caller)).param_headers(caller, tool)
    }
}

async fn served(kept: &KeptRequest, own: &CallerCore) -> RelayReply {
    match kept.serve(&CoreRelay(Arc::clone(&own.core))) {
        Some(work) => work.await,
        None => Reject::internal("the gateway does not serve this").into(),
    }
}
