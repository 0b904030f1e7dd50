//! A legacy client of a legacy server. Questions of the server are asked on the stream of the call,
//! with ids of the gateway.

use std::sync::Arc;

use tokio::task::JoinSet;
use turnbuckle_client::{Attribution, RelayAsk, RelayEvent};
use turnbuckle_protocol::{
    ErrorObject, Revision,
    envelope::{Raw, RawText},
};
use turnbuckle_server::RelayReply;

use super::{call::Exchange, ear, task::related_to};
use crate::{
    translate::{Answer, FrontRequest, Question, Round, answer, not_offered, refusal},
    upstream::Turn,
};

pub(super) async fn run(exchange: &Exchange) -> RelayReply {
    let mut open = match exchange.enter().await {
        Ok(open) => open,
        Err(reply) => return reply,
    };
    let turn = open.as_ref().map(|open| Arc::clone(open.turn()));
    let mut call = match exchange.start(&Round::None) {
        Ok(call) => call,
        Err(reply) => return reply,
    };
    // Dropping the set withdraws the questions that are still open.
    let mut asking = JoinSet::new();
    loop {
        let event = Exchange::next(&mut call, &mut open).await;
        match exchange.hear(event).await {
            Some(RelayEvent::Ask(ask)) => {
                while asking.try_join_next().is_some() {}
                let id = ask.id().clone();
                let (request, to) = (Arc::clone(&exchange.request), exchange.to());
                if !may_be_asked(exchange, &ask) {
                    refuse(ask);
                    continue;
                }
                let asker = Asker {
                    request,
                    server: to,
                    turn: turn.clone(),
                    task: exchange.task.clone(),
                };
                let task = asking.spawn(asker.pass_on(ask));
                exchange.lane.hub.answering(id, task);
            }
            Some(RelayEvent::Result(raw)) => return exchange.finish(&Answer::Result(raw)),
            Some(RelayEvent::Error(raw)) => return exchange.finish(&Answer::Error(raw)),
            Some(RelayEvent::Lost(error)) => return exchange.finish(&Answer::Lost(error)),
            None | Some(_) => {}
        }
    }
}

fn refuse(ask: RelayAsk) {
    let question = Question::new(ask.method(), ask.params().map(Raw::from));
    ask.refuse(&refusal(&question));
}

/// Whether a question can belong to this request. A question of a task is marked as such, or
/// nothing else could have asked it.
fn may_be_asked(exchange: &Exchange, ask: &RelayAsk) -> bool {
    let is_certain = matches!(ask.attribution(), Attribution::Stream | Attribution::Task);
    let hub = &exchange.lane.hub;
    exchange.may_be_asked()
        && (exchange.task.is_none() || is_certain || hub.is_alone(exchange.request.caller()))
}

/// Passes a question of a server to a client.
struct Asker {
    request: Arc<FrontRequest>,
    /// The revision of the server.
    server: Revision,
    turn: Option<Arc<Turn>>,
    /// The id of the asking task that the client knows.
    task: Option<String>,
}

impl Asker {
    /// Asks the client, and passes the answer to the server.
    async fn pass_on(self, ask: RelayAsk) {
        let Self {
            request,
            server,
            turn,
            task,
        } = self;
        let question = Question::new(ask.method(), ask.params().map(Raw::from));
        let is_declared = question.is_declared(&request.capabilities, request.revision);
        let params = question.for_session(server, request.revision);
        let Some((mut params, _)) = params.filter(|_| is_declared) else {
            let client = &request.capabilities;
            return ask.refuse(&not_offered(&question, client, request.revision));
        };
        if let Some(task) = &task {
            let known = params.as_ref().map_or(Raw::EMPTY_OBJECT, RawText::raw);
            params = related_to(known, task);
        }
        if let Some(id) = params.as_ref().and_then(visit) {
            request.expect_visit(&id);
        }
        let params = params.as_ref().map(RawText::raw);
        // Until the client answers, the server asks nothing more in this call, so let other calls
        // have their turn.
        if let Some(turn) = &turn {
            turn.give();
        }
        let answered = ear::ask(&request, &question.method, params).await;
        if let Some(turn) = &turn
            && let Err(reason) = turn.take().await
        {
            // The server needs its answer even without a turn. Its next question may then have to
            // be refused.
            tracing::debug!(reason, "resumed a call out of turn");
        }
        match answered {
            Some(Ok(result)) => {
                let answer = answer(&result, server);
                if let Some(record) = &request.record {
                    record.answer_sent(&answer);
                }
                ask.answer(&answer);
            }
            Some(Err(error)) => ask.refuse(&error),
            None => ask.refuse(&ErrorObject::internal("the client disconnected")),
        }
    }
}

/// The id of a visit, whose end is reported to the client.
fn visit(params: &RawText) -> Option<String> {
    let id = params.raw().member("elicitationId")?;
    crate::translate::text_of(id)
}
