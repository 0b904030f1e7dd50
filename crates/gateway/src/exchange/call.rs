//! A request from arrival to answer: its session, and its combination of eras.

use std::{sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use turnbuckle_client::{RelayEvent, RelayRequest};
use turnbuckle_protocol::{JsonObject, Revision, envelope::Raw};
use turnbuckle_server::{Changes, Reject, RelayReply};

use super::{
    ear, park, park::ParkTable, pass, repeat, repeat::LostCall, rounds, session_asks, task,
    task::TaskTable, upstream_call::UpstreamCall, visit::Visited,
};
use crate::{
    gateways,
    seal::{Sealer, Ticket},
    translate::{self, Answer, FrontRequest, Own, Round},
    upstream::{LaneUse, Member, NewCall, OpenCall, can_be_asked},
};

/// How long a call may take if the user may have to be asked: as long as a client may keep a
/// connection open for it. Clients usually end calls sooner.
const LONGEST_CALL: Duration = Duration::from_hours(1);

/// The state that all requests share.
pub(crate) struct Context {
    pub(crate) sealer: Sealer,
    pub(crate) parked: Arc<ParkTable>,
    pub(crate) park_for: Duration,
    pub(crate) tasks: TaskTable,
    /// The channel for notifying clients of changes, once the server is built.
    pub(crate) changes: Arc<std::sync::OnceLock<Changes>>,
    /// The link to other replicas of the gateway, once the server is built.
    #[cfg(feature = "http")]
    pub(crate) replicas: std::sync::OnceLock<turnbuckle_server::ReplicaLink>,
}

impl Context {
    /// Lets another replica serve a request of a modern client, because its call or task is there.
    /// Returns `None` if that replica has ended.
    pub(crate) async fn elsewhere(&self, node: u64, request: &FrontRequest) -> Option<RelayReply> {
        let params = request.params();
        self.serve_at(node, request, &request.method, params).await
    }

    /// Sends a request in the form of 2026-07-28 to another replica and returns its reply. Returns
    /// `None` if that replica has ended.
    #[cfg(feature = "http")]
    pub(crate) async fn serve_at(
        &self,
        node: u64,
        request: &FrontRequest,
        method: &str,
        params: Raw<'_>,
    ) -> Option<RelayReply> {
        let link = self.replicas.get()?;
        link.serve_at(node, request.front()?, method, params).await
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_async, reason = "with HTTP there may be other replicas")]
    pub(crate) async fn serve_at(
        &self,
        _: u64,
        _: &FrontRequest,
        _: &str,
        _: Raw<'_>,
    ) -> Option<RelayReply> {
        None
    }

    /// Whether the gateway may run as several processes.
    #[cfg(feature = "http")]
    pub(crate) fn has_replicas(&self) -> bool {
        self.replicas.get().is_some()
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "with HTTP there may be other replicas")]
    pub(crate) fn has_replicas(&self) -> bool {
        false
    }

    /// The other replicas. The list is empty if one of them sent this request, so that it is not
    /// passed on again.
    #[cfg(feature = "http")]
    pub(crate) fn other_replicas(&self, request: &FrontRequest) -> Vec<u64> {
        match self.replicas.get().zip(request.front()) {
            Some((link, front)) if !front.is_from_replica() => link.others(),
            _ => Vec::new(),
        }
    }

    #[cfg(not(feature = "http"))]
    #[expect(clippy::unused_self, reason = "with HTTP there may be other replicas")]
    pub(crate) fn other_replicas(&self, _: &FrontRequest) -> Vec<u64> {
        Vec::new()
    }
}

/// Where a request is sent.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) member: Arc<Member>,
    /// The server's own name of the tool or prompt, and the path of the name in the params.
    pub(crate) name: Option<(&'static [&'static str], String)>,
    /// Arguments of the tool that the gateway sets, overriding those of the client.
    pub(crate) fixed: Option<Arc<JsonObject>>,
}

impl Route {
    /// A route to this server without renaming.
    pub(crate) fn to(member: Arc<Member>) -> Self {
        Self {
            member,
            name: None,
            fixed: None,
        }
    }
}

/// A request that is being served.
pub(crate) struct Exchange {
    pub(crate) context: Arc<Context>,
    pub(crate) member: Arc<Member>,
    pub(crate) lane: LaneUse,
    pub(crate) request: Arc<FrontRequest>,
    name: Option<(&'static [&'static str], String)>,
    fixed: Option<Arc<JsonObject>>,
    /// The task id that the client knows, if the request is about a task.
    pub(super) task: Option<String>,
    /// Records whether the server was lost before it answered.
    loss: Arc<LostCall>,
    /// The visits that the client was asked for before.
    pub(super) visited: Option<Arc<Visited>>,
}

/// Serves a request.
pub(crate) async fn serve(
    context: Arc<Context>,
    request: FrontRequest,
    route: Route,
) -> RelayReply {
    let request = Arc::new(request);
    let ticket = match &request.state {
        None => None,
        Some(state) => {
            let opened = context
                .sealer
                .open(state, request.caller(), request.digest());
            match opened {
                Ok(ticket) => Some(ticket),
                Err(reject) => return reject.into(),
            }
        }
    };
    if let Some(Ticket::Parked {
        node,
        number,
        round,
        server,
    }) = ticket
    {
        let parked = park::Parked {
            node,
            number,
            round,
            server: &server,
        };
        return Box::pin(park::resume(&context, &request, parked)).await;
    }
    let server = route.member.id.as_str();
    let (round, visited) = match ticket {
        Some(Ticket::Upstream {
            server: other,
            state,
        }) if other == server => (Round::Retry(state), None),
        Some(Ticket::Visit {
            server: other,
            visits,
        }) if other == server => (Round::None, Some(Visited::new(visits, &context))),
        None => (Round::None, None),
        Some(_) => {
            return Reject::invalid_params("`requestState` belongs to another server").into();
        }
    };
    match visited {
        None => try_twice(&context, &request, &route, &round, None).await,
        Some(visited) => Box::pin(visit(&context, &request, &route, &round, visited)).await,
    }
}

/// Sends a request again after each URL that the user has visited.
async fn visit(
    context: &Arc<Context>,
    request: &Arc<FrontRequest>,
    route: &Route,
    round: &Round,
    visited: Visited,
) -> RelayReply {
    let mut visited = Arc::new(visited);
    loop {
        let reply = try_twice(context, request, route, round, Some(&visited)).await;
        // Do not keep a process while the user is at the URL.
        let Some(waiting) = Arc::get_mut(&mut visited) else {
            return reply;
        };
        tokio::select! {
            biased;
            () = context.parked.closed() => {
                return Reject::internal("the gateway is closing").into();
            }
            is_next = waiting.pause() => {
                if !is_next {
                    return reply;
                }
            }
        }
    }
}

/// Sends a request to its server, and once more if the server was lost and a repetition is harmless.
async fn try_twice(
    context: &Arc<Context>,
    request: &Arc<FrontRequest>,
    route: &Route,
    round: &Round,
    visited: Option<&Arc<Visited>>,
) -> RelayReply {
    let open = async || {
        let opened = Exchange::open(Arc::clone(context), Arc::clone(request), route.clone()).await;
        opened.map(|mut exchange| {
            exchange.visited = visited.cloned();
            exchange
        })
    };
    let exchange = match open().await {
        Ok(exchange) => exchange,
        Err(reply) => return reply,
    };
    let loss = Arc::clone(&exchange.loss);
    let reply = exchange.run(round.clone()).await;
    if !loss.allows_another(|| repeat::is_repeatable(request, route)) {
        return reply;
    }
    // The server died before it answered. It may be restarted in a moment.
    match Box::pin(open()).await {
        Ok(exchange) => exchange.run(round.clone()).await,
        Err(_) => reply,
    }
}

impl Exchange {
    async fn open(
        context: Arc<Context>,
        request: Arc<FrontRequest>,
        route: Route,
    ) -> Result<Self, RelayReply> {
        let lane = route.member.lane(&request).await?;
        let exchange = Self {
            context,
            member: route.member,
            lane,
            request,
            name: route.name,
            fixed: route.fixed,
            task: None,
            loss: Arc::default(),
            visited: None,
        };
        if let Some(level) = exchange.request.log_level {
            Box::pin(exchange.lane.want_level(level)).await;
        }
        Ok(exchange)
    }

    /// Makes the exchange for a request about a task, which has this id at the server.
    pub(super) fn of_task(
        context: Arc<Context>,
        member: Arc<Member>,
        lane: LaneUse,
        request: Arc<FrontRequest>,
        own: String,
        sealed: String,
    ) -> Self {
        Self {
            context,
            member,
            lane,
            request,
            name: Some((&["taskId"], own)),
            fixed: None,
            task: Some(sealed),
            loss: Arc::default(),
            visited: None,
        }
    }

    /// Whether a call of a legacy client becomes a task on a modern server (G31).
    pub(super) fn becomes_task(&self) -> bool {
        self.request.wants_task() && task::has_tasks(&self.lane)
    }

    /// The revision of the client.
    pub(crate) fn from(&self) -> Revision {
        self.request.revision
    }

    /// The revision of the server.
    pub(crate) fn to(&self) -> Revision {
        self.lane.revision()
    }

    pub(crate) fn server(&self) -> &str {
        self.member.id.as_str()
    }

    /// Whether the server may ask questions during this request (G8).
    pub(crate) fn may_be_asked(&self) -> bool {
        matches!(
            self.request.method.as_str(),
            "tools/call" | "prompts/get" | "resources/read" | "tasks/result"
        )
    }

    /// The server's own name of the tool or prompt.
    pub(super) fn own_name(&self) -> Option<String> {
        let name = self.name.as_ref().map(|(_, name)| name.clone());
        name.or_else(|| self.request.text(&["name"]))
    }

    /// The name under which calls are remembered. All resources share one name, because a server
    /// has more of them than tools.
    fn subject(&self) -> String {
        let name = self.own_name();
        format!("{} {}", self.request.method, name.unwrap_or_default())
    }

    /// Each combination of eras has its own boxed future. Otherwise the future of a call would have
    /// space for all of them.
    fn run(self, round: Round) -> BoxFuture<'static, RelayReply> {
        match (self.from().is_modern(), self.to().is_modern()) {
            (true, true) => Box::pin(pass::run(self, round)),
            (false, true) => Box::pin(rounds::run(self)),
            (false, false) => Box::pin(async move {
                let reply = session_asks::run(&self).await;
                if self.request.wants_task() {
                    task::created_in_session(&self, reply)
                } else {
                    reply
                }
            }),
            (true, false) => match task::becomes_task(&self) {
                Ok(true) => Box::pin(task::create(self)),
                Ok(false) => Box::pin(park::run(self)),
                Err(reply) => Box::pin(std::future::ready(reply)),
            },
        }
    }

    /// Registers the call among those during which a legacy server may ask. If nothing shows which
    /// call a question belongs to, calls of tools that may ask take turns.
    pub(super) async fn enter(&self) -> Result<Option<OpenCall>, RelayReply> {
        // Questions of a task name the task, so it needs no turn.
        if !self.may_be_asked() || self.task.is_some() {
            return Ok(None);
        }
        let entered = self.lane.hub.enter(NewCall {
            caller: self.request.caller(),
            subject: self.subject(),
            can_be_asked: can_be_asked(&self.request.capabilities),
        });
        match entered.await {
            Ok(open) => Ok(Some(open)),
            Err(reason) => Err(translate::unavailable(self.server(), &reason)),
        }
    }

    /// Prepares the request to the server. It is sent when its events are awaited.
    pub(super) fn start(&self, round: &Round) -> Result<UpstreamCall, RelayReply> {
        let name = self
            .name
            .as_ref()
            .map(|(path, name)| (*path, name.as_str()));
        let own = Own {
            name,
            fixed: self.fixed.as_deref(),
            has_tasks: self.becomes_task(),
        };
        let mut params = self.request.params_for(self.to(), &own, round)?;
        let plan = &self.member.plan;
        if plan.peer.is_gateway() {
            params = Some(gateways::sent_by(&plan.common.gateway, params.as_ref())?);
        }
        let method = self.request.method.as_str();
        if let Some(record) = &self.request.record {
            record.sent(self.server(), self.to(), method, params.as_ref());
        }
        let request = RelayRequest::new(method, params);
        let limit = self.member.plan.spec.time_for_calls();
        let request = match limit {
            Some(limit) => request.with_deadline(limit),
            None if self.may_be_asked() => request.with_deadline(LONGEST_CALL),
            None => request,
        };
        let request = if self.wants_log() {
            request.with_log()
        } else {
            request
        };
        let call = self.lane.connection.relay(request);
        call.map(UpstreamCall::from).map_err(|error| {
            self.loss.note_unsent(&error);
            self.member.note_failure(&error);
            translate::lost(self.server(), &error)
        })
    }

    /// Whether the client has requested log messages. Legacy servers may send them outside of the call.
    fn wants_log(&self) -> bool {
        let level = self.request.log_level;
        let level = level.or_else(|| self.request.session_log_level());
        level.is_some() && self.may_be_asked()
    }

    /// Returns the next event of a call, including questions that arrived without a stream.
    pub(super) async fn next(call: &mut UpstreamCall, open: &mut Option<OpenCall>) -> RelayEvent {
        let Some(open) = open else {
            return call.next().await;
        };
        loop {
            let event = tokio::select! {
                biased;
                ask = open.ask() => return RelayEvent::Ask(ask),
                event = call.next() => event,
            };
            if let Some(event) = open.note(event) {
                return event;
            }
        }
    }

    /// Drops data that is not needed to process the server's answer. It is called when the request
    /// was sent and the client is asked a question, which may take long.
    pub(super) fn rest(&mut self) {
        if self.request.front().is_some() {
            let capabilities = self.context.parked.share(&self.request.capabilities);
            self.request = Arc::new(self.request.at_rest(capabilities));
            (self.name, self.fixed) = (None, None);
        }
    }

    /// Passes progress and log messages to the client. Returns other events.
    pub(super) async fn hear(&self, event: RelayEvent) -> Option<RelayEvent> {
        ear::hear(&self.request, event).await
    }

    /// Whether this lists tools that a modern server may run as tasks, for a client whose revision
    /// marks such tools.
    fn lists_tools_of_tasks(&self) -> bool {
        self.request.method == "tools/list"
            && self.from().rules().task_fields
            && task::has_tasks(&self.lane)
    }

    /// Translates the answer for the client.
    pub(super) fn finish(&self, answer: &Answer) -> RelayReply {
        let (from, to) = (self.to(), self.from());
        match answer {
            Answer::Result(raw) => {
                let server = self.lane.connection.server().implementation();
                match translate::result(&self.request.method, raw, from, to, server) {
                    Ok(result) if self.lists_tools_of_tasks() => {
                        RelayReply::Result(translate::with_tasks_supported(result))
                    }
                    Ok(result) => RelayReply::Result(result),
                    Err(reject) => reject.into(),
                }
            }
            Answer::Error(raw) => {
                let uri = self.request.text(&["uri"]);
                let uri = uri.filter(|_| self.request.method.starts_with("resources/"));
                translate::error(raw, from, to, uri.as_deref())
            }
            Answer::Lost(error) => {
                self.loss.note(error);
                self.member.note_failure(error);
                translate::lost(self.server(), error)
            }
        }
    }
}
