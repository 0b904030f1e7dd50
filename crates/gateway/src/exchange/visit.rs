//! A legacy server that wants URLs visited before the call (−32042), for a modern client: the URLs are
//! asked for, and the retry sends the call again, for it did not run (G9).

use std::fmt::Write;

use serde_json::{json, value::RawValue};
use turnbuckle_protocol::{
    ClientCapabilities, ErrorObject,
    envelope::{Edit, Raw},
    error::code,
};
use turnbuckle_server::{Reject, RelayReply};

use super::call::Exchange;
use crate::{seal::Ticket, translate::Question};

/// The reply to a call that was refused until URLs are visited; `None` if the error is another.
pub(super) fn reply(exchange: &Exchange, raw: &RawValue) -> Option<RelayReply> {
    let error = Raw::from(raw);
    let code: i64 = error.member("code")?.parse().ok()?;
    if code != code::URL_ELICITATION_REQUIRED {
        return None;
    }
    let visits = error.at(&["data", "elicitations"])?.elements();
    if visits.is_empty() {
        return None;
    }
    Some(ask(exchange, &visits).unwrap_or_else(Into::into))
}

fn ask(exchange: &Exchange, visits: &[Raw<'_>]) -> Result<RelayReply, Reject> {
    let request = &exchange.request;
    if !request.capabilities.has_url_elicitation() {
        let needed = ClientCapabilities::new().with_url_elicitation();
        let message = "the user has to visit a URL first, which this client does not support";
        let error = ErrorObject::missing_capability(message, needed);
        return Ok(error.into());
    }
    let mut entries = String::new();
    for (index, visit) in visits.iter().enumerate() {
        let params = Edit::new(*visit).set(&["mode"], r#""url""#).finish();
        let params = params.map_err(|error| Reject::internal(error.to_string()))?;
        let question = Question::new("elicitation/create", Some(params.raw()));
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(entries, r#"{comma}"visit-{index}":{}"#, question.to_entry());
    }
    let ticket = Ticket::Visit {
        server: exchange.server().to_owned(),
    };
    let context = &exchange.context;
    let state = context.sealer.seal(
        &ticket,
        request.caller(),
        request.digest(),
        context.park_for,
    )?;
    Ok(RelayReply::Result(
        format!(
            r#"{{"resultType":"input_required","inputRequests":{{{entries}}},"requestState":{}}}"#,
            json!(state)
        )
        .into_bytes(),
    ))
}
