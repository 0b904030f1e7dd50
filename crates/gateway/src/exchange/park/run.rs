//! A client's requests for a parked call: the first one, and the retries with answers.

use std::sync::Arc;

use tokio::time::Instant;
use turnbuckle_client::{RelayAsk, RelayEvent};
use turnbuckle_server::{RelayReply, RelayedRequest};
use turnbuckle_session::round::RequestDigest;

use super::{keeper::Keeper, parked_call::ParkedCall, waiting::Waiting};
use crate::{
    exchange::{
        call::{Context, Exchange},
        upstream_call::UpstreamCall,
        visit,
    },
    seal::Ticket,
    translate::{Answer, FrontRequest, Question, Round, not_offered, refusal, unavailable},
    upstream::OpenCall,
};

/// Identifies the parked call that a request retries.
pub(crate) struct Parked<'a> {
    pub(crate) node: u64,
    pub(crate) number: u64,
    pub(crate) round: u32,
    pub(crate) server: &'a str,
}

impl Context {
    /// Whether a request with this state continues a call that runs already. It never begins
    /// another one, even if the call has ended.
    pub(crate) fn continues(&self, request: &RelayedRequest<'_>, state: &str) -> bool {
        let digest = RequestDigest::of(request.method(), request.members());
        let ticket = self.sealer.open(state, request.caller().id(), digest);
        matches!(ticket, Ok(Ticket::Parked { .. }))
    }
}

/// Runs a call of a modern client on a legacy server, until it is done or the server asks a question.
pub(crate) async fn run(exchange: Exchange) -> RelayReply {
    let mut open = match exchange.enter().await {
        Ok(open) => open,
        Err(reply) => return reply,
    };
    let mut call = match exchange.start(&Round::None) {
        Ok(call) => call,
        Err(reply) => return reply,
    };
    loop {
        let event = Exchange::next(&mut call, &mut open).await;
        match exchange.hear(event).await {
            Some(RelayEvent::Ask(ask)) => {
                if let Some(asked) = admitted(&exchange, ask) {
                    return park(exchange, call, open, asked).await;
                }
            }
            Some(RelayEvent::Result(raw)) => return exchange.finish(&Answer::Result(raw)),
            Some(RelayEvent::Error(raw)) => return failed(&exchange, raw),
            Some(RelayEvent::Lost(error)) => return exchange.finish(&Answer::Lost(error)),
            None | Some(_) => {}
        }
    }
}

/// The reply to a call that ended with an error.
pub(super) fn failed(exchange: &Exchange, raw: Box<serde_json::value::RawValue>) -> RelayReply {
    visit::reply(exchange, &raw).unwrap_or_else(|| exchange.finish(&Answer::Error(raw)))
}

/// Returns the question if the client can be asked; otherwise refuses it (G8).
pub(super) fn admitted(exchange: &Exchange, ask: RelayAsk) -> Option<RelayAsk> {
    let question = Question::of_ask(&ask);
    let request = &exchange.request;
    if !exchange.may_be_asked() {
        ask.refuse(&refusal(&question));
        return None;
    }
    if question.is_declared(&request.capabilities, request.revision) {
        return Some(ask);
    }
    let client = &request.capabilities;
    ask.refuse(&not_offered(&question, client, request.revision));
    None
}

/// Parks a call, and waits for the first reply to send to the client.
async fn park(
    exchange: Exchange,
    mut call: UpstreamCall,
    open: Option<OpenCall>,
    first: RelayAsk,
) -> RelayReply {
    let context = Arc::clone(&exchange.context);
    let request = Arc::clone(&exchange.request);
    let (caller, server) = (request.caller(), exchange.server());
    let parked = context.parked.enter(caller, server, |number| {
        let turn = open.as_ref().map(|open| Arc::clone(open.turn()));
        let name = request.text(&["name"]).or_else(|| request.text(&["uri"]));
        let server = exchange.member.id.clone();
        ParkedCall::new(number, caller, server, name, exchange.to(), turn)
    });
    let parked = match parked {
        Ok(parked) => parked,
        Err(reject) => {
            let refused = refusal(&Question::of_ask(&first));
            first.refuse(&refused);
            call.cancel("the gateway has too many calls that wait for answers");
            return reject.into();
        }
    };
    {
        let mut state = parked.state.lock();
        state.is_awaited_by(&request);
        state.add(first);
    }
    let waiting = Waiting::new(&parked);
    let mut keeper = Keeper::new(parked, exchange, open, call);
    // The task ends with the call, at its deadline, or when the gateway closes.
    tokio::spawn(async move { keeper.keep().await });
    waiting.wait(&context, &request).await
}

/// Passes the answers of a retry to the server, and waits for the next reply.
pub(crate) async fn resume(
    context: &Arc<Context>,
    request: &Arc<FrontRequest>,
    parked: Parked<'_>,
) -> RelayReply {
    let Parked {
        node,
        number,
        round,
        server,
    } = parked;
    if node != context.parked.node() {
        if let Some(reply) = context.elsewhere(node, request).await {
            return reply;
        }
        return unavailable(server, "the process that ran the call has ended");
    }
    let Some(parked) = context.parked.find(number) else {
        return unavailable(server, "the call has already ended");
    };
    let waiting = Waiting::new(&parked);
    if parked.awaits(request, round) {
        let turn = match &parked.turn {
            Some(turn) => turn.take().await,
            None => Ok(()),
        };
        match turn {
            Ok(()) => parked.take_answers(request, round, Instant::now() + context.park_for),
            Err(reason) => return waiting.answered(unavailable(server, &reason)),
        }
    }
    waiting.wait(context, request).await
}
