//! Modern requests: headers held against the body, then served inside the connection's own task.
//!
//! Nothing outlives the exchange. The answer is JSON unless something was sent before it; only
//! then is it a stream, which itself drives the handler. A client that hangs up drops the answer,
//! and with it the handler.

use std::{borrow::Cow, sync::Arc};

use http::{HeaderMap, Response, StatusCode, request::Parts};
use serde_json::value::RawValue;
use turnbuckle_protocol::{
    ErrorObject, Revision,
    envelope::Request,
    http::{
        header::{METHOD, NAME, PROTOCOL_VERSION},
        matches, name_of, status_of,
    },
};
use turnbuckle_transport::Outbox;

use super::{
    body::HttpBody,
    exchange_body::{self, Start},
    reply,
    service::{Site, caller},
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
    let outbox = Outbox::new(site.shared.settings.limits);
    let peer = Arc::new(Peer::new(caller(parts), outbox.clone(), None));
    let mut response = sink::Response::default();
    match method::serve(&site.shared, &peer, request, &mut response) {
        Step::Done if outbox.pending_bytes() == 0 => json(response),
        Step::Done => {
            let ready = Box::pin(std::future::ready(response));
            reply::events(exchange_body::kind(outbox, ready, Vec::new(), site))
        }
        Step::Later(future) => match exchange_body::begin(outbox, future, site).await {
            Start::Whole(response) => json(response),
            Start::Stream(kind) => reply::events(kind),
        },
    }
}

fn json(response: sink::Response) -> Response<HttpBody> {
    let status = match response.wrote {
        Wrote::Result => StatusCode::OK,
        Wrote::Error(code) => {
            StatusCode::from_u16(status_of(code)).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
        }
    };
    reply::json(status, response.message)
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
    if version != Revision::LATEST.as_str() {
        // Refused for its version, with the list of those that are spoken.
        return Ok(());
    }
    match headers.get(METHOD) {
        None => return Err("the header `Mcp-Method` is missing".into()),
        Some(method) if method.as_bytes() == request.method.as_bytes() => {}
        Some(_) => return Err("`Mcp-Method` differs from the method in the body".into()),
    }
    check_name(headers, request)?;
    if request.method == "tools/call" {
        check_parameters(site, headers, request)?;
    }
    Ok(())
}

fn check_name(headers: &HeaderMap, request: &Request<'_>) -> Result<(), Cow<'static, str>> {
    let Some(member) = name_of(&request.method) else {
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
    let none: &RawValue = serde_json::from_str("{}").expect("an empty object is JSON");
    let arguments = request.params.get("arguments").unwrap_or(none);
    let lookup = |name: &str| headers.get(name).map(http::HeaderValue::as_bytes);
    mirrored
        .check(arguments, lookup)
        .map_err(|fault| fault.to_string().into())
}
