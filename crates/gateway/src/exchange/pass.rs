//! A modern client of a modern server. Everything is passed on unchanged, except that the server's
//! state is sealed again, because the server cannot distinguish the users of a gateway.

use turnbuckle_client::RelayEvent;
use turnbuckle_protocol::{
    envelope::{Edit, Raw},
    error::name_in_message,
};
use turnbuckle_server::{Reject, RelayReply};

use super::{call::Exchange, task};
use crate::{
    seal::Ticket,
    translate::{Answer, Question, Round, is_input_required, text_of},
};

pub(super) async fn run(exchange: Exchange, round: Round) -> RelayReply {
    let mut call = match exchange.start(&round) {
        Ok(call) => call,
        Err(reply) => return reply,
    };
    loop {
        match exchange.hear(call.next().await).await {
            Some(RelayEvent::Result(raw)) if is_input_required(&raw) => {
                return seal(&exchange, Raw::from(&*raw)).unwrap_or_else(Into::into);
            }
            Some(RelayEvent::Result(raw)) => {
                let created = task::created_by_modern(&exchange, &raw);
                return created.unwrap_or_else(|| exchange.finish(&Answer::Result(raw)));
            }
            Some(RelayEvent::Error(raw)) => return exchange.finish(&Answer::Error(raw)),
            Some(RelayEvent::Lost(error)) => return exchange.finish(&Answer::Lost(error)),
            // A modern server asks questions in results. A request of it is an error, and is
            // refused by dropping it.
            None | Some(_) => {}
        }
    }
}

fn seal(exchange: &Exchange, raw: Raw<'_>) -> Result<RelayReply, Reject> {
    let request = &exchange.request;
    let asked = raw.member("inputRequests").map(Raw::members);
    for (key, entry) in asked.unwrap_or_default() {
        let question = Question::of_entry(entry);
        let is_declared = question
            .is_some_and(|question| question.is_declared(&request.capabilities, request.revision));
        if !is_declared {
            let (server, key) = (exchange.server(), name_in_message(&key));
            return Err(Reject::internal(format!(
                "server `{server}` sent an input request (`{key}`) that the client did not declare"
            )));
        }
    }
    let ticket = Ticket::Upstream {
        server: exchange.server().to_owned(),
        state: raw.member("requestState").and_then(text_of),
    };
    let context = &exchange.context;
    let state = context.sealer.seal(
        &ticket,
        request.caller(),
        request.digest(),
        context.park_for,
    )?;
    let edited = Edit::new(raw).set_text(&["requestState"], &state).finish();
    let edited = edited.map_err(|error| Reject::internal(error.to_string()))?;
    Ok(RelayReply::Result(edited.raw().get().as_bytes().to_vec()))
}
