//! A modern client of a modern server: requests of the extension are passed on unchanged, except
//! for the task id, which belongs to one caller.

use serde_json::value::RawValue;
use turnbuckle_client::RelayEvent;
use turnbuckle_protocol::{envelope::Raw, error::name_in_message};
use turnbuckle_server::{Reject, RelayReply};

use super::{
    methods::TaskCall,
    reseal::{resealed, resealed_reply},
};
use crate::{
    exchange::ear,
    translate::{self, Answer, Own, Question, Round},
};

pub(super) async fn serve(call: TaskCall) -> RelayReply {
    match send(&call, &call.request.method, &Round::None).await {
        Ok(Answer::Result(raw)) => {
            if let Some(key) = undeclared(&call, &raw) {
                let (server, key) = (&call.id.server, name_in_message(&key));
                return Reject::internal(format!(
                    "server `{server}` sent an input request (`{key}`) that the client did not declare"
                ))
                .into();
            }
            match resealed(Raw::from(&*raw), &call.sealed) {
                Some(edited) => RelayReply::Result(edited.raw().get().as_bytes().to_vec()),
                None => Reject::internal("the task cannot be read").into(),
            }
        }
        Ok(Answer::Error(raw)) => {
            let (from, to) = (call.lane.revision(), call.request.revision);
            resealed_reply(translate::error(&raw, from, to, None), &call.sealed)
        }
        Ok(Answer::Lost(error)) => translate::lost(&call.id.server, &error),
        Err(reply) => reply,
    }
}

/// The first question of a task that the client has not declared support for (G8).
fn undeclared(call: &TaskCall, raw: &RawValue) -> Option<String> {
    let asked = Raw::from(raw).member("inputRequests").map(Raw::members);
    let (capabilities, revision) = (&call.request.capabilities, call.request.revision);
    asked.into_iter().flatten().find_map(|(key, entry)| {
        let question = Question::of_entry(entry);
        let is_declared = question.is_some_and(|it| it.is_declared(capabilities, revision));
        (!is_declared).then(|| key.into_owned())
    })
}

/// Sends a request about the task to a modern server.
pub(super) async fn send(
    call: &TaskCall,
    method: &str,
    round: &Round,
) -> Result<Answer, RelayReply> {
    let own = Own {
        name: Some((&["taskId"], &call.id.own)),
        has_tasks: true,
        ..Own::default()
    };
    let params = call.request.params_for(call.lane.revision(), &own, round)?;
    if let Some(record) = &call.request.record {
        record.sent(
            &call.id.server,
            call.lane.revision(),
            method,
            params.as_ref(),
        );
    }
    let request = turnbuckle_client::RelayRequest::new(method, params);
    let sent = call.lane.connection.relay(request);
    let mut sent = match sent {
        Ok(sent) => sent,
        Err(error) => return Ok(Answer::Lost(error)),
    };
    loop {
        match ear::hear(&call.request, sent.next().await).await {
            Some(RelayEvent::Result(raw)) => return Ok(Answer::Result(raw)),
            Some(RelayEvent::Error(raw)) => return Ok(Answer::Error(raw)),
            Some(RelayEvent::Lost(error)) => return Ok(Answer::Lost(error)),
            _ => {}
        }
    }
}
