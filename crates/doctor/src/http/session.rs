//! Sessions over HTTP: their ids, wrong versions, and their end.

use serde_json::json;
use turnbuckle::{protocol::http::header, transport::http::client::Method};

use crate::{
    discover::NO_VERSION,
    finding::Finding,
    handshake,
    table::{headers, session},
    talk::{Exchange, HttpRoad, Post, Road, Speech, Talk},
};

/// 16 characters: 64 bits in hexadecimal, and less can be tried.
const MIN_ID: usize = 16;

/// Looks at the session of this talk, and ends it.
pub(super) async fn look(talk: &mut Talk<'_>, fresh: &HttpRoad) {
    talk.report.step("looking at sessions");
    version(talk).await;
    echo(talk, fresh).await;
    let Road::Http(road) = &talk.road else { return };
    let Some(id) = road.session.clone() else {
        talk.report.ok(&session::ID, "no sessions: none is needed");
        return;
    };
    if id.is_empty() || !id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)) {
        let said = "the id of a session has characters that are not visible ASCII";
        talk.report.add(Finding::of(&session::ID, said));
        return;
    }
    talk.report.ok(&session::ID, "ids are well formed");
    guessable(talk, fresh, &id).await;
    missing(talk).await;
    unknown(talk).await;
    delete(talk, &id).await;
}

/// A version that does not exist.
async fn version(talk: &mut Talk<'_>) {
    let Road::Http(road) = &talk.road else { return };
    let revision = talk.speech.revision();
    if !revision.rules().version_header {
        return;
    }
    let road = road.clone();
    let id = talk.next_id();
    let message = talk.speech.request(&id, "ping", json!({}));
    let mut post = road.post(&talk.speech, &message);
    for header in &mut post.headers {
        if header.0 == header::PROTOCOL_VERSION {
            NO_VERSION.clone_into(&mut header.1);
        }
    }
    let exchange = road.send(post, message, talk.patience.probe).await;
    if exchange.status() == Some(400) {
        talk.report
            .ok(&headers::LEGACY_VERSION, "wrong versions are refused");
        return;
    }
    let said = format!(
        "`MCP-Protocol-Version: {NO_VERSION}` is answered with {}",
        exchange.came()
    );
    let finding = Finding::of(&headers::LEGACY_VERSION, said);
    talk.report.add(finding.seen_all(exchange.evidence()));
}

/// A session that asks for a version that does not exist, and is ended again.
async fn echo(talk: &Talk<'_>, fresh: &HttpRoad) {
    let road = Road::Http(Box::new(fresh.clone()));
    let speech = Speech::Legacy(talk.speech.revision());
    let mut other = Talk::new(road, speech, talk.patience, talk.report);
    let opened = handshake::look_at_echo(&mut other).await;
    let id = opened
        .head
        .as_ref()
        .and_then(|head| head.header(header::SESSION_ID));
    if let Some(id) = id {
        end(&other, fresh, id).await;
    }
}

/// Opens another session and compares the ids.
async fn guessable(talk: &Talk<'_>, fresh: &HttpRoad, id: &str) {
    let road = Road::Http(Box::new(fresh.clone()));
    let speech = Speech::Legacy(talk.speech.revision());
    let mut other = Talk::new(road, speech, talk.patience, talk.report);
    let params = Speech::initialize(talk.speech.revision().as_str());
    let opened = other.ask("initialize", params).await;
    let second = opened
        .head
        .as_ref()
        .and_then(|head| head.header(header::SESSION_ID));
    let finding = if second == Some(id) {
        let said = "two sessions have the same id";
        Some(Finding::of(&session::GUESSABLE, said))
    } else if id.len() < MIN_ID {
        let said = format!("the id of a session has {} characters", id.len());
        Some(Finding::of(&session::GUESSABLE, said))
    } else {
        None
    };
    match finding {
        Some(finding) => talk.report.add(finding),
        None => talk.report.ok(&session::GUESSABLE, "ids differ"),
    }
    if let (Road::Http(road), Some(second)) = (&other.road, second) {
        end(&other, road, second).await;
    }
}

/// Asks without an id, with one that nobody has, or with that of the talk.
async fn ask(talk: &mut Talk<'_>, id: Option<&str>) -> Option<Exchange> {
    let number = talk.next_id();
    let Road::Http(road) = &talk.road else {
        return None;
    };
    let mut road = road.clone();
    road.session = id.map(str::to_owned);
    let message = talk.speech.request(&number, "ping", json!({}));
    Some(
        road.exchange(&talk.speech, message, talk.patience.probe)
            .await,
    )
}

async fn missing(talk: &mut Talk<'_>) {
    let Some(exchange) = ask(talk, None).await else {
        return;
    };
    if exchange.status() == Some(400) {
        talk.report.ok(&session::MISSING, "an id is required");
        return;
    }
    let said = format!(
        "a request without an id is answered with {}",
        exchange.came()
    );
    let finding = Finding::of(&session::MISSING, said);
    talk.report.add(finding.seen_all(exchange.evidence()));
}

async fn unknown(talk: &mut Talk<'_>) {
    let nobody = "00000000-0000-4000-8000-000000000000";
    let Some(exchange) = ask(talk, Some(nobody)).await else {
        return;
    };
    if exchange.status() == Some(404) {
        talk.report.ok(&session::UNKNOWN, "unknown ids get 404");
        return;
    }
    let said = format!(
        "a session that does not exist is answered with {}",
        exchange.came()
    );
    let finding = Finding::of(&session::UNKNOWN, said);
    talk.report.add(finding.seen_all(exchange.evidence()));
}

async fn delete(talk: &mut Talk<'_>, id: &str) {
    let Road::Http(road) = &talk.road else { return };
    let ended = end(talk, road, id).await;
    let status = ended.status().unwrap_or_default();
    if status == 405 {
        talk.report
            .ok(&session::DELETE, "DELETE is refused with 405");
        return;
    }
    if !(200..300).contains(&status) {
        let said = format!("DELETE is answered with {}", ended.came());
        let finding = Finding::of(&session::DELETE, said);
        talk.report.add(finding.seen_all(ended.evidence()));
        return;
    }
    talk.report.ok(&session::DELETE, "DELETE ends them");
    let Some(exchange) = ask(talk, Some(id)).await else {
        return;
    };
    if exchange.status() == Some(404) {
        talk.report.ok(&session::ENDED, "and they are gone");
        return;
    }
    let said = format!(
        "after DELETE a session is answered with {}",
        exchange.came()
    );
    let is_served = exchange.result().is_some();
    let check = if is_served {
        &session::UNDEAD
    } else {
        &session::ENDED
    };
    let finding = Finding::of(check, said);
    talk.report.add(finding.seen_all(exchange.evidence()));
}

/// Ends a session.
pub(super) async fn end(talk: &Talk<'_>, road: &HttpRoad, id: &str) -> Exchange {
    let mut headers = vec![(header::SESSION_ID, id.to_owned())];
    if talk.speech.revision().rules().version_header {
        let version = talk.speech.revision().to_string();
        headers.push((header::PROTOCOL_VERSION, version));
    }
    let post = Post {
        method: Method::DELETE,
        headers,
        body: String::new(),
    };
    let sent = json!({ "method": "DELETE" });
    road.send(post, sent, talk.patience.probe).await
}
