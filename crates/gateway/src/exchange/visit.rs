//! A legacy server that requires visits to URLs before a call (-32042), for a modern client. The
//! client is asked for the visits, and its retry sends the call again, which is safe because the
//! call did not run (G9). A modern client reports that the user opens the URL, but not when they
//! are done there, so the retry waits for that.

use std::{
    fmt::Write,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde_json::{json, value::RawValue};
use tokio::time::{self, Instant};
use turnbuckle_protocol::{
    ClientCapabilities, ErrorObject,
    envelope::{Edit, Raw},
    error::code,
};
use turnbuckle_server::{Reject, RelayReply};

use super::{Context, call::Exchange};
use crate::{
    seal::{AskedVisit, Ticket},
    translate::{Question, text_of},
};

/// How long a retry waits for the end of a visit before the client is asked again. Clients give up
/// a request after a minute or more.
const WAIT: Duration = Duration::from_secs(45);

/// The first and the longest pause between two attempts.
const PAUSES: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(2));

/// A retried call whose client was asked for visits.
pub(super) struct Visited {
    asked: Vec<AskedVisit>,
    until: Instant,
    pause: Duration,
    /// Whether the server still requires the same visits.
    is_refused: AtomicBool,
}

impl Visited {
    pub(super) fn new(asked: Vec<AskedVisit>, context: &Context) -> Self {
        Self {
            asked,
            until: Instant::now() + WAIT.min(context.park_for),
            pause: PAUSES.0,
            is_refused: AtomicBool::new(false),
        }
    }

    /// Waits before the call is sent again. Servers need not report the end of a visit, so the call
    /// is repeated regularly; it does not run before the visit is done. Returns false if the last
    /// reply is final.
    pub(super) async fn pause(&mut self) -> bool {
        let left = self.until.saturating_duration_since(Instant::now());
        if !std::mem::take(self.is_refused.get_mut()) || left.is_zero() {
            return false;
        }
        time::sleep(self.pause.min(left)).await;
        self.pause = (self.pause * 2).min(PAUSES.1);
        true
    }
}

fn asked_visit(visit: Raw<'_>) -> AskedVisit {
    let text = |name| visit.member(name).and_then(text_of);
    let url = text("url").map(|mut url| {
        let end = url.find(['?', '#']).unwrap_or(url.len());
        url.truncate(end);
        url
    });
    AskedVisit {
        id: text("elicitationId"),
        url,
        message: text("message"),
    }
}

fn is_same(one: &AskedVisit, other: &AskedVisit) -> bool {
    (one.id.is_some() && one.id == other.id)
        || (one.url == other.url && one.message == other.message)
}

/// The user's answers to the requested visits, in their order.
fn answers(exchange: &Exchange) -> Vec<Option<String>> {
    let responses = exchange.request.responses.as_ref();
    let responses = responses.map(|raw| raw.raw().members()).unwrap_or_default();
    let actions = responses
        .iter()
        .map(|(_, response)| response.member("action").and_then(text_of));
    actions.collect()
}

/// The visits that a server requires before it runs a call; empty for other errors.
fn visits(error: &RawValue) -> Vec<Raw<'_>> {
    let error = Raw::from(error);
    let code = error.member("code").and_then(|code| code.parse().ok());
    if code != Some(code::URL_ELICITATION_REQUIRED) {
        return Vec::new();
    }
    let visits = error.at(&["data", "elicitations"]);
    visits.map(Raw::elements).unwrap_or_default()
}

/// The reply to a call that was refused because of required visits; `None` if the client should get
/// the error itself.
pub(super) fn reply(exchange: &Exchange, error: &RawValue) -> Option<RelayReply> {
    let visits = visits(error);
    if visits.is_empty() {
        return None;
    }
    if let Some(visited) = &exchange.visited {
        let answers = answers(exchange);
        let is_yes = |answer: &Option<String>| answer.as_deref() == Some("accept");
        // A user who declined is not asked again: the client gets the server's error.
        if !answers.iter().all(is_yes) {
            return None;
        }
        let is_asked = |visit: &Raw<'_>| {
            let visit = asked_visit(*visit);
            visited.asked.iter().any(|asked| is_same(asked, &visit))
        };
        let is_refused = !answers.is_empty() && visits.iter().all(is_asked);
        visited.is_refused.store(is_refused, Ordering::Relaxed);
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
        visits: visits.iter().map(|visit| asked_visit(*visit)).collect(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_is_known_by_its_id_or_by_its_page_and_text() {
        let visit = |id: &str, url: &str, message: &str| {
            let visit = json!({ "elicitationId": id, "url": url, "message": message });
            let visit = serde_json::value::to_raw_value(&visit).unwrap();
            asked_visit(Raw::from(&*visit))
        };
        let first = visit("1", "https://a.example/login?t=1", "Sign in.");
        assert!(is_same(
            &first,
            &visit("1", "https://a.example/other", "More.")
        ));
        assert!(is_same(
            &first,
            &visit("2", "https://a.example/login?t=2", "Sign in.")
        ));
        assert!(!is_same(
            &first,
            &visit("2", "https://a.example/login", "Pay.")
        ));
        assert!(!is_same(
            &first,
            &visit("2", "https://b.example/login", "Sign in.")
        ));
    }
}
