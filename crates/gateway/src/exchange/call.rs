//! A request from its arrival to its answer: the session, and the combination of eras.

use std::{sync::Arc, time::Duration};

use futures_core::future::BoxFuture;
use turnbuckle_client::{RelayEvent, RelayRequest};
use turnbuckle_protocol::{JsonObject, Revision, envelope::Raw};
use turnbuckle_server::{Changes, Reject, RelayReply};

use super::{
    ear, park, park::ParkTable, pass, repeat, repeat::Loss, rounds, session_asks, task,
    task::TaskTable, upstream_call::UpstreamCall, visit::Visited,
};
use crate::{
    gateways,
    seal::{Sealer, Ticket},
    translate::{self, Answer, FrontRequest, Own, Round},
    upstream::{LaneUse, Member, NewCall, OpenCall, can_be_asked},
};

/// How long a call may take in which a person may have to be asked: as long as a client may keep a
/// connection open for it. Clients end calls sooner by themselves.
const LONGEST_CALL: Duration = Duration::from_hours(1);

/// What all requests share.
pub(crate) struct Context {
    pub(crate) sealer: Sealer,
    pub(crate) parked: Arc<ParkTable>,
    pub(crate) park_for: Duration,
    pub(crate) tasks: TaskTable,
    /// Tells clients of changes, once the server is built.
    pub(crate) changes: Arc<std::sync::OnceLock<Changes>>,
    /// The way to other replicas of the gateway, once the server is built.
    #[cfg(feature = "http")]
    pub(crate) replicas: std::sync::OnceLock<turnbuckle_server::ReplicaLink>,
}

impl Context {
    /// Has another replica serve a request of a modern client whose work is there; `None` if that replica
    /// has ended.
    pub(crate) async fn elsewhere(&self, node: u64, request: &FrontRequest) -> Option<RelayReply> {
        let params = request.params();
        self.serve_at(node, request, &request.method, params).await
    }

    /// Sends a request in the form of 2026-07-28 to another replica and returns its reply; `None` if that
    /// replica has ended.
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

    /// The other replicas; none if one of them sent this request, so that it is not passed on again.
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

/// Where a request goes.
#[derive(Clone)]
pub(crate) struct Route {
    pub(crate) member: Arc<Member>,
    /// What the server calls the tool or prompt, and where that is in the params.
    pub(crate) name: Option<(&'static [&'static str], String)>,
    /// Arguments of the tool that the gateway sets, whatever the client says.
    pub(crate) fixed: Option<Arc<JsonObject>>,
}

impl Route {
    /// To this server, under the names that it uses itself.
    pub(crate) fn to(member: Arc<Member>) -> Self {
        Self {
            member,
            name: None,
            fixed: None,
        }
    }
}

/// A request on its way.
pub(crate) struct Exchange {
    pub(crate) context: Arc<Context>,
    pub(crate) member: Arc<Member>,
    pub(crate) lane: LaneUse,
    pub(crate) request: Arc<FrontRequest>,
    name: Option<(&'static [&'static str], String)>,
    fixed: Option<Arc<JsonObject>>,
    /// The id that the client knows of the task that the request is about.
    pub(super) task: Option<String>,
    /// Whether the server was lost before it answered.
    loss: Arc<Loss>,
    /// The visits that were made before.
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

/// Sends a request again after each URL that the user has been at.
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
        // No process is kept while the user is at the URL.
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

/// Sends a request to its server, and once more if the server was lost and that does no harm.
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
    // The server died before it answered. It may be back in a moment.
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

    /// A request about a task, which the server knows by this id.
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

    /// Whether a server may ask in the middle of it (G8).
    pub(crate) fn may_be_asked(&self) -> bool {
        matches!(
            self.request.method.as_str(),
            "tools/call" | "prompts/get" | "resources/read" | "tasks/result"
        )
    }

    /// What the server calls the tool or prompt.
    pub(super) fn own_name(&self) -> Option<String> {
        let name = self.name.as_ref().map(|(_, name)| name.clone());
        name.or_else(|| self.request.text(&["name"]))
    }

    /// What is called, to be remembered by. All resources are one: a server has more of them than tools.
    fn subject(&self) -> String {
        let name = self.own_name();
        format!("{} {}", self.request.method, name.unwrap_or_default())
    }

    /// Each combination of eras has a future of its own. The future of a call would otherwise have room
    /// for all of them.
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

    /// Enters the call among those that a legacy server may ask in the middle of. Tools that ask, or may,
    /// take turns where nothing says which of them a question belongs to.
    pub(super) async fn enter(&self) -> Result<Option<OpenCall>, RelayReply> {
        // What a task asks names the task, so that it needs no turn.
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

    /// Whether the client has asked for log messages. Legacy servers may send them beside the call.
    fn wants_log(&self) -> bool {
        let level = self.request.log_level;
        let level = level.or_else(|| self.request.session_log_level());
        level.is_some() && self.may_be_asked()
    }

    /// The next event of a call, with questions that came without a stream.
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

    /// Lets go of what is not needed for the answer of the server. The request was sent, and its client is
    /// asked, which may take long.
    pub(super) fn rest(&mut self) {
        if self.request.front().is_some() {
            let capabilities = self.context.parked.share(&self.request.capabilities);
            self.request = Arc::new(self.request.at_rest(capabilities));
            (self.name, self.fixed) = (None, None);
        }
    }

    /// Tells the client of progress and log messages. Gives back what is left to the cell.
    pub(super) async fn hear(&self, event: RelayEvent) -> Option<RelayEvent> {
        ear::hear(&self.request, event).await
    }

    /// Whether tools that a modern server may run as tasks are listed to a client that has to be told so.
    fn lists_tools_of_tasks(&self) -> bool {
        self.request.method == "tools/list"
            && self.from().rules().task_fields
            && task::has_tasks(&self.lane)
    }

    /// The answer as the client reads it.
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
