//! A legacy client in front of a legacy server: what the server asks is asked on the stream of the call,
//! with an id of our own.

use std::sync::Arc;

use tokio::task::JoinSet;
use turnbuckle_client::{RelayAsk, RelayEvent};
use turnbuckle_protocol::{
    ErrorObject, Revision,
    envelope::{Raw, RawText},
};
use turnbuckle_server::RelayReply;

use super::call::Exchange;
use crate::translate::{Answer, FrontRequest, Question, Round, answer, refusal};

pub(super) async fn run(exchange: Exchange) -> RelayReply {
    let mut open = exchange.enter();
    let mut call = match exchange.start(&Round::None) {
        Ok(call) => call,
        Err(reply) => return reply,
    };
    // Dropping it takes back what is still asked.
    let mut asking = JoinSet::new();
    loop {
        let event = Exchange::next(&mut call, &mut open).await;
        match exchange.hear(event).await {
            Some(RelayEvent::Ask(ask)) => {
                while asking.try_join_next().is_some() {}
                let id = ask.id().clone();
                let (request, to) = (Arc::clone(&exchange.request), exchange.to());
                let may_be_asked = exchange.may_be_asked();
                let task = asking.spawn(async move {
                    if may_be_asked {
                        pass_on(&request, to, ask).await;
                    } else {
                        refuse(ask);
                    }
                });
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

/// Asks the client what a server of this revision asks, and tells the server.
async fn pass_on(request: &FrontRequest, server: Revision, ask: RelayAsk) {
    let question = Question::new(ask.method(), ask.params().map(Raw::from));
    let is_declared = question.is_declared(&request.capabilities, request.revision);
    let params = question.for_session(server, request.revision);
    let Some((params, _)) = params.filter(|_| is_declared) else {
        return ask.refuse(&refusal(&question));
    };
    if let Some(id) = params.as_ref().and_then(visit) {
        request.front.expect_visit(&id);
    }
    let params = params.as_ref().map(RawText::raw);
    match request.front.ask(&question.method, params).await {
        Some(Ok(result)) => ask.answer(&answer(&result, server)),
        Some(Err(error)) => ask.refuse(&error),
        None => ask.refuse(&ErrorObject::internal("the client went away")),
    }
}

/// The id of a visit, which the client is told the end of.
fn visit(params: &RawText) -> Option<String> {
    let id = params.raw().member("elicitationId")?;
    crate::translate::text_of(id)
}
