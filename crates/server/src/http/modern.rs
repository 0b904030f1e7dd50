//! Modern requests: headers held against the body, then served inside the connection's own task.
//!
//! Nothing outlives the exchange. The answer is JSON unless something was sent before it; only
//! then is it a stream, which itself drives the handler. A client that hangs up drops the answer,
//! and with it the handler.

use std::{borrow::Cow, sync::Arc};

use http::{HeaderMap, Response, StatusCode, request::Parts};
use turnbuckle_protocol::{
    ErrorObject, Revision,
    envelope::{Raw, Request},
    http::{
        header::{METHOD, NAME, PROTOCOL_VERSION},
        matches, name_of, status_of, status_of_answer,
    },
};
use turnbuckle_session::Modern;
use turnbuckle_transport::Outbox;

use super::{
    body::HttpBody,
    exchange_body::{self, Start},
    listen_body, reply,
    service::Site,
};
use crate::{
    exchange::Step,
    method,
    peer::Peer,
    sink::{self, Wrote},
};

pub(super) async fn serve(
    site: &Arc<Site>,
    parts: &Parts,
    request: Request<'_>,
    version: Option<&str>,
) -> Response<HttpBody> {
    if let Err(problem) = check_headers(site, parts, &request, version) {
        let error = ErrorObject::header_mismatch(problem);
        return reply::error(StatusCode::BAD_REQUEST, Some(&request.id), &error);
    }
    if version.is_none() {
        // Told here because without its version a body does not look modern.
        return incomplete(&request);
    }
    let capabilities = request
        .params
        .meta()
        .and_then(|meta| meta.client_capabilities);
    let is_spoken = version.is_some_and(|version| modern_revision(version).is_some());
    let status = match capabilities {
        Some(capabilities) if is_spoken && capabilities.is_object() => status_of_answer,
        // It will be refused, for what is missing or not spoken.
        _ => status_of,
    };
    let outbox = Outbox::new(site.shared.settings.limits);
    let closing = site.closing.clone();
    let peer = Arc::new(Peer::new(site.caller(parts), outbox.clone(), None, closing));
    let mut response = sink::Response::default();
    match method::serve(&site.shared, &peer, request, &mut response) {
        Step::Done if outbox.pending_bytes() == 0 => json(response, status),
        Step::Done => {
            let ready = Box::pin(std::future::ready(response));
            reply::events(exchange_body::kind(outbox, ready, Vec::new(), site))
        }
        Step::Later(future) => match exchange_body::begin(outbox, future, site).await {
            Start::Whole(response) => json(response, status_of_answer),
            Start::Stream(kind) => reply::events(kind),
        },
        Step::Listening(subscription) => reply::events(listen_body::kind(*subscription, site)),
    }
}

/// basic: a request without its version MUST get 400 and -32602.
fn incomplete(request: &Request<'_>) -> Response<HttpBody> {
    let error = match Modern::<()>::check(None, None, Revision::NEWEST_FIRST) {
        Err(rejection) => ErrorObject::new(rejection.code(), rejection.to_string()),
        Ok(_) => ErrorObject::invalid_request("the request names no protocol version"),
    };
    reply::error(StatusCode::BAD_REQUEST, Some(&request.id), &error)
}

fn json(response: sink::Response, status: fn(i64) -> u16) -> Response<HttpBody> {
    let status = match response.wrote {
        Wrote::Result => StatusCode::OK,
        Wrote::Error(code) => StatusCode::from_u16(status(code)).unwrap_or(StatusCode::OK),
    };
    reply::whole(status, response)
}

/// The revision that a request names, if requests are served at it without a session.
fn modern_revision(version: &str) -> Option<Revision> {
    Revision::from_date(version).filter(|revision| revision.is_modern())
}

/// streamable-http, server validation: the headers MUST say what the body says.
fn check_headers(
    site: &Site,
    parts: &Parts,
    request: &Request<'_>,
    version: Option<&str>,
) -> Result<(), Cow<'static, str>> {
    let headers = &parts.headers;
    let Some(said) = headers.get(PROTOCOL_VERSION) else {
        return Err("the header `MCP-Protocol-Version` is missing".into());
    };
    // A body without a version is refused for that, with the name of the missing field.
    let Some(version) = version else {
        return Ok(());
    };
    if said.as_bytes() != version.as_bytes() {
        return Err("`MCP-Protocol-Version` differs from the version in `_meta`".into());
    }
    let revision = modern_revision(version);
    if !revision.is_some_and(|revision| revision.rules().mirrored_headers) {
        // Refused for its version, with the list of those that are spoken.
        return Ok(());
    }
    match headers.get(METHOD) {
        None => return Err("the header `Mcp-Method` is missing".into()),
        Some(method) if method.as_bytes() == request.method.as_bytes() => {}
        Some(_) => return Err("`Mcp-Method` differs from the method in the body".into()),
    }
    check_name(site, headers, request)?;
    if request.method == "tools/call" {
        check_parameters(site, headers, request)?;
    }
    Ok(())
}

fn check_name(
    site: &Site,
    headers: &HeaderMap,
    request: &Request<'_>,
) -> Result<(), Cow<'static, str>> {
    let method = &*request.method;
    let named_by = || site.shared.extensions.named_by(method);
    let Some(member) = name_of(method).or_else(named_by) else {
        return Ok(());
    };
    let Some(said) = headers.get(NAME) else {
        return Err("the header `Mcp-Name` is missing".into());
    };
    // A body without the member is refused for that by the method itself.
    let Some(name) = request.params.text(member) else {
        return Ok(());
    };
    if matches(said.as_bytes(), &name) {
        return Ok(());
    }
    Err(format!("`Mcp-Name` differs from `params.{member}`, or cannot be decoded").into())
}

/// Arguments that the tool wants mirrored.
fn check_parameters(
    site: &Site,
    headers: &HeaderMap,
    request: &Request<'_>,
) -> Result<(), Cow<'static, str>> {
    let catalog = site.shared.catalog();
    let Some(name) = request.params.text("name") else {
        return Ok(());
    };
    let Some(tool) = catalog.tools.find(&name) else {
        return Ok(());
    };
    let Some(mirrored) = &tool.headers else {
        return Ok(());
    };
    let arguments = request.params.get("arguments");
    let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT).value();
    let lookup = |name: &str| headers.get(name).map(http::HeaderValue::as_bytes);
    mirrored
        .check(arguments, lookup)
        .map_err(|fault| fault.to_string().into())
}
