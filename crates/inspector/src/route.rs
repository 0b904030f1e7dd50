//! The routes of the inspector.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header, request::Parts};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{json, value::RawValue};
use turnbuckle::protocol::Root;
use turnbuckle_command_line::failure::Outcome;

use super::{
    answer::{self, Answer},
    ask::{Given, Reply},
    call::Unsent,
    check,
    door::Door,
    exchange::Wanted,
    export::Which,
    gateway::GatewayAsk,
    listening::{self, ListenTo},
    login::NoLogin,
    origin::Pin,
    page,
    saving::SaveTo,
};

/// The largest request body: larger arguments do not belong in a form.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// How many rows are returned by default, and at most.
const ROWS: usize = 500;
const MAX_ROWS: usize = 5_000;

type Routed = Result<Answer, Box<Answer>>;

/// Answers a request that has passed the guard.
pub(super) async fn answer(door: &Door, request: Request<Incoming>) -> Answer {
    let (head, body) = request.into_parts();
    let mut answer = match routed(door, &head, body).await {
        Ok(answer) => answer,
        Err(answer) => *answer,
    };
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    answer
}

async fn routed(door: &Door, head: &Parts, body: Incoming) -> Routed {
    door.guard.check(&head.headers)?;
    let path = head.uri.path();
    let Some(path) = path.strip_prefix("/api/") else {
        return Ok(page::answer(
            &head.method,
            path,
            &head.headers,
            &door.sandbox,
        ));
    };
    door.guard.check_token(&head.headers)?;
    let parts: Vec<&str> = path.split('/').collect();
    let is_get = head.method == Method::GET;
    match (is_get, &*parts) {
        (true, parts) => get(door, head, parts).await,
        (false, ["servers", id]) if head.method == Method::DELETE => {
            let removed = door.inspector.remove(id);
            removed.map(|()| answer::done()).ok_or_else(|| no("server"))
        }
        (false, parts) if head.method == Method::POST => post(door, parts, read(body).await?).await,
        _ => Err(wrong(
            StatusCode::METHOD_NOT_ALLOWED,
            "the method must be GET, POST or DELETE",
        )),
    }
}

async fn get(door: &Door, head: &Parts, parts: &[&str]) -> Routed {
    let inspector = &door.inspector;
    let query = Query(head.uri.query().unwrap_or_default());
    Ok(match parts {
        ["state"] => {
            inspector.is_looked_at();
            answer::json(&inspector.snapshot())
        }
        ["events"] => {
            let resumed = head.headers.get("last-event-id");
            let resumed = resumed.and_then(|id| id.to_str().ok()?.parse().ok());
            answer::events(inspector.events.follow(query.number("after").or(resumed)))
        }
        ["wire"] => {
            let limit = query
                .number("limit")
                .and_then(|limit| limit.try_into().ok());
            let limit = limit.unwrap_or(ROWS).clamp(1, MAX_ROWS);
            let after = query.number("after").unwrap_or(0);
            let server = query.text("server");
            answer::json(&inspector.wire.rows(server.as_deref(), after, limit))
        }
        ["wire", seq] => {
            let row = seq.parse().ok().and_then(|seq| inspector.wire.whole(seq));
            answer::json(&row.ok_or_else(|| no("message; newer ones may have replaced it"))?)
        }
        ["gateway"] => {
            let period = query.text("period").unwrap_or_default();
            gateway(door, GatewayAsk::Overview(&period))?
        }
        ["gateway", "messages"] => {
            let limit = query.number("limit").and_then(|it| it.try_into().ok());
            let ask = GatewayAsk::Exchanges {
                after: query.number("after").unwrap_or(0),
                limit: limit.unwrap_or(ROWS).clamp(1, MAX_ROWS),
            };
            gateway(door, ask)?
        }
        ["gateway", "messages", number] => {
            let number = number.parse().map_err(|_| no("request"))?;
            gateway(door, GatewayAsk::Exchange(number))?
        }
        ["servers", id, "offer"] => {
            let is_fresh = query.text("fresh").is_some_and(|fresh| fresh == "1");
            let offer = inspector.offer(id, is_fresh).await;
            answer::json(&*offer.ok_or_else(not_connected)?)
        }
        ["apps", id] => {
            let uri = query.text("uri").unwrap_or_default();
            match inspector.app(id, &uri, &door.sandbox).await {
                Ok(ready) => answer::json(&ready),
                Err(problem) => answer::refused(StatusCode::BAD_GATEWAY, &problem),
            }
        }
        _ => return Err(no("place")),
    })
}

async fn post(door: &Door, parts: &[&str], body: Bytes) -> Routed {
    let inspector = &door.inspector;
    match parts {
        ["servers"] => add(door, &body),
        ["config"] => {
            let read = inspector.read_config();
            read.map_err(|failed| wrong(StatusCode::UNPROCESSABLE_ENTITY, failed.said()))?;
            Ok(answer::done())
        }
        ["gateway", "reload"] => gateway(door, GatewayAsk::Reload),
        ["gateway", "servers", id, "restart"] => gateway(door, GatewayAsk::Restart(&decoded(id))),
        ["gateway", "approve"] => {
            let approved: Approved = parse(&body)?;
            let ask = GatewayAsk::Approve {
                server: approved.server.as_deref(),
                kind: approved.kind.as_deref(),
                name: approved.name.as_deref(),
            };
            gateway(door, ask)
        }
        ["roots"] => {
            let Shared { roots } = parse(&body)?;
            inspector.share_roots(roots);
            Ok(answer::done())
        }
        ["servers", id, rest @ ..] => post_server(door, id, rest, &body).await,
        ["exchanges", n, "cancel"] => {
            let is_cancelled = n.parse().is_ok_and(|n| inspector.cancel(n));
            let cancelled = is_cancelled.then(answer::done);
            cancelled.ok_or_else(|| no("running exchange"))
        }
        ["asks", id] => answer_ask(door, id, &body),
        ["wire", "export"] => {
            let lines = inspector.export(&which(&body)?);
            Ok(attached(
                "application/x-ndjson",
                "attachment; filename=\"wire.ndjson\"",
                lines,
            ))
        }
        ["wire", "har"] => {
            let archive = inspector.har(&which(&body)?);
            Ok(attached(
                "application/json",
                "attachment; filename=\"wire.har\"",
                archive,
            ))
        }
        _ => Err(no("place")),
    }
}

/// The changes of servers to approve.
#[derive(Deserialize)]
struct Approved {
    server: Option<String>,
    kind: Option<String>,
    name: Option<String>,
}

/// Passes a request to the gateway that the page shows.
fn gateway(door: &Door, ask: GatewayAsk<'_>) -> Routed {
    let gateway = door.inspector.gateway.get().ok_or_else(|| no("gateway"))?;
    match gateway(ask) {
        Ok(json) => Ok(answer::bytes(StatusCode::OK, "application/json", json)),
        Err((status, reason)) => Err(wrong(status, reason)),
    }
}

/// The rows to export. Defaults to all.
fn which(body: &[u8]) -> Result<Which, Box<Answer>> {
    let which = (!body.is_empty()).then(|| parse(body)).transpose()?;
    Ok(which.unwrap_or_default())
}

fn attached(kind: &'static str, name: &'static str, bytes: Vec<u8>) -> Answer {
    let mut attached = answer::bytes(StatusCode::OK, kind, bytes);
    let name = HeaderValue::from_static(name);
    attached
        .headers_mut()
        .insert(header::CONTENT_DISPOSITION, name);
    attached
}

async fn post_server(door: &Door, id: &str, rest: &[&str], body: &Bytes) -> Routed {
    let inspector = &door.inspector;
    match rest {
        ["inputs"] => {
            let given = inspector.give_inputs(id, parse(body)?);
            done(given.ok_or_else(|| no("server"))?)?;
            inspector.connect(id);
            view(door, id)
        }
        ["rename"] => {
            let Renamed { name } = parse(body)?;
            let renamed = inspector.rename(id, &name);
            done(renamed.ok_or_else(|| no("server"))?)?;
            view(door, id)
        }
        ["trust"] => {
            let agreed = inspector.trust_file(id);
            done(agreed.ok_or_else(|| no("server"))?)?;
            view(door, id)
        }
        ["connect"] => {
            if let Some(blocked) = inspector.blocked(id) {
                return Err(wrong(StatusCode::CONFLICT, blocked.said()));
            }
            let pin: Option<Pin> = (!body.is_empty()).then(|| parse(body)).transpose()?;
            // If the request does not set one, the settings of the command line apply.
            let pin = pin.filter(|pin| pin.says_something());
            let pin = pin.unwrap_or_else(|| Pin::of(&inspector.options));
            let connected = inspector.connect_pinned(id, Some(pin));
            connected.ok_or_else(|| no("server"))?;
            view(door, id)
        }
        ["close"] => {
            inspector.close(id).ok_or_else(|| no("server"))?;
            view(door, id)
        }
        ["exchanges"] => start(door, id, parse(body)?),
        ["listen"] => {
            let wish: ListenTo = parse(body)?;
            let connection = inspector.connection(id).ok_or_else(not_connected)?;
            listening::listen(inspector, id, connection, &wish);
            Ok(answer::done())
        }
        ["check"] => check_arguments(door, id, body).await,
        ["login"] => logged(&inspector.login(id)),
        ["logout"] => logged(&inspector.logout(id)),
        _ => Err(no("place")),
    }
}

/// A server that the page adds: as one line, or as an entry of a config file.
#[derive(Deserialize)]
struct Added {
    target: Option<String>,
    name: Option<String>,
    /// A document in the format of config files, with only this server.
    document: Option<Box<RawValue>>,
    #[serde(default)]
    inputs: BTreeMap<String, String>,
    /// The file to save it to.
    save: Option<SaveTo>,
}

/// A new name for a server.
#[derive(Deserialize)]
struct Renamed {
    name: String,
}

/// The roots that the page shares.
#[derive(Deserialize)]
struct Shared {
    roots: Vec<Root>,
}

fn done(outcome: Outcome) -> Result<(), Box<Answer>> {
    outcome.map_err(|failed| wrong(StatusCode::UNPROCESSABLE_ENTITY, failed.said()))
}

fn add(door: &Door, body: &[u8]) -> Routed {
    let added: Added = parse(body)?;
    let name = added.name.unwrap_or_default();
    let id = if let Some(document) = &added.document {
        match added.save {
            Some(to) => door
                .inspector
                .save_form(&name, document.get(), added.inputs, to),
            None => door.inspector.add_form(&name, document.get(), added.inputs),
        }
    } else {
        let target = added.target.unwrap_or_default();
        door.inspector.add_typed(&target, Some(name))
    };
    let id = id.map_err(|failed| wrong(StatusCode::UNPROCESSABLE_ENTITY, failed.said()))?;
    door.inspector.connect(&id);
    view(door, &id)
}

fn view(door: &Door, id: &str) -> Routed {
    let view = door.inspector.view(id).ok_or_else(|| no("server"))?;
    Ok(answer::json(&view))
}

fn start(door: &Door, id: &str, wanted: Wanted) -> Routed {
    #[derive(Serialize)]
    struct Started {
        exchange: u64,
    }
    let is_object = |params: &RawValue| params.get().starts_with('{');
    if wanted
        .params
        .as_deref()
        .is_some_and(|params| !is_object(params))
    {
        let message = "params must be an object";
        return Err(wrong(StatusCode::UNPROCESSABLE_ENTITY, message));
    }
    match door.inspector.start(id, wanted) {
        Ok(exchange) => Ok(answer::json(&Started { exchange })),
        Err(Unsent::NoServer) => Err(no("server")),
        Err(Unsent::NotConnected) => Err(not_connected()),
        Err(Unsent::TooMany) => Err(wrong(
            StatusCode::TOO_MANY_REQUESTS,
            "too many exchanges are running; cancel some",
        )),
    }
}

fn answer_ask(door: &Door, id: &str, body: &[u8]) -> Routed {
    let given: Given = parse(body)?;
    let ask = door
        .inspector
        .asked(id)
        .ok_or_else(|| no("open question"))?;
    let Some(reply) = given.into_reply() else {
        let message = "expected one of `result`, `refuse` and `error`";
        return Err(wrong(StatusCode::UNPROCESSABLE_ENTITY, message));
    };
    if let Reply::Result(result) = &reply {
        let problems = ask.problems(result);
        if !problems.is_empty() {
            let problems = json!({ "problems": problems });
            let refused = answer::status_json(StatusCode::UNPROCESSABLE_ENTITY, &problems);
            return Err(Box::new(refused));
        }
    }
    if door.inspector.answer_ask(id, reply) {
        return Ok(answer::done());
    }
    Err(no("open question"))
}

async fn check_arguments(door: &Door, id: &str, body: &[u8]) -> Routed {
    #[derive(Deserialize)]
    struct ToCheck {
        tool: String,
        arguments: Box<RawValue>,
    }
    let asked: ToCheck = parse(body)?;
    let offer = door
        .inspector
        .offer(id, false)
        .await
        .ok_or_else(not_connected)?;
    let schemas = offer.tool(&asked.tool).ok_or_else(|| no("tool"))?;
    let schema = schemas.input_schema.unwrap_or_default();
    let problems = check::arguments(&schema, &asked.arguments);
    Ok(answer::json(&json!({ "problems": problems })))
}

fn logged(outcome: &Result<(), NoLogin>) -> Routed {
    match outcome {
        Ok(()) => Ok(answer::done()),
        Err(NoLogin::NoServer) => Err(no("server")),
        Err(NoLogin::NotRemote) => Err(wrong(
            StatusCode::CONFLICT,
            "a program on this machine needs no sign-in",
        )),
    }
}

async fn read(body: Incoming) -> Result<Bytes, Box<Answer>> {
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) => {
            let message = format!("the request cannot be read: {error}");
            Err(wrong(StatusCode::PAYLOAD_TOO_LARGE, message))
        }
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Box<Answer>> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!("the request is invalid: {error}");
        wrong(StatusCode::BAD_REQUEST, message)
    })
}

#[expect(
    clippy::unnecessary_box_returns,
    reason = "it is an error, and errors are small"
)]
fn no(what: &str) -> Box<Answer> {
    Box::new(answer::not_found(what))
}

#[expect(
    clippy::unnecessary_box_returns,
    reason = "it is an error, and errors are small"
)]
fn wrong(status: StatusCode, message: impl Into<String>) -> Box<Answer> {
    Box::new(answer::wrong(status, message))
}

#[expect(
    clippy::unnecessary_box_returns,
    reason = "it is an error, and errors are small"
)]
fn not_connected() -> Box<Answer> {
    wrong(StatusCode::CONFLICT, "the server is not connected")
}

/// The query of a URL.
struct Query<'a>(&'a str);

impl Query<'_> {
    fn text(&self, name: &str) -> Option<String> {
        let mut pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        let (_, value) = pairs.find(|(other, _)| *other == name)?;
        Some(decoded(value))
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }
}

/// Decodes percent-encoding.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let [first, after @ ..] = rest {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let code = match after {
            [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        let code = code.and_then(|(high, low)| u8::try_from(high * 16 + low).ok());
        rest = match code {
            Some(_) => after.get(2..).unwrap_or_default(),
            None => after,
        };
        bytes.push(code.unwrap_or(if *first == b'+' { b' ' } else { *first }));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read() {
        let query = Query("server=s1&uri=ui%3A%2F%2Fa%20b&after=7&odd=%zz%");
        assert_eq!(query.text("uri").as_deref(), Some("ui://a b"));
        assert_eq!(query.number("after"), Some(7));
        assert_eq!(query.text("odd").as_deref(), Some("%zz%"));
        assert_eq!(query.text("none"), None);
    }
}
