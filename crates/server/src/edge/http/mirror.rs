//! Headers that mirror the body of a modern request, for intermediaries.
//!
//! streamable-http, server validation: the headers MUST match the body.

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use turnbuckle_protocol::{
    Revision,
    envelope::{Raw, Request, RequestMeta},
    http::{ParamHeaders, matches, name_of},
};

use super::header_name::{METHOD, NAME, PROTOCOL_VERSION};
use crate::{
    Caller,
    engine::{Incoming, Target},
    relay::Relay,
};

/// Compares the headers with the body. `incoming` is set if the request was admitted, and `relay`
/// knows the tools that are not in the server's catalog.
pub(super) fn check(
    headers: &HeaderMap,
    request: &Request<'_>,
    incoming: Option<&Incoming<'_>>,
    relay: Option<(&dyn Relay, &Caller)>,
) -> Result<(), Cow<'static, str>> {
    let meta = request.params.meta();
    let named = || meta.and_then(RequestMeta::version);
    if incoming.is_none()
        && meta.is_some_and(|meta| meta.protocol_version.is_some())
        && named().is_none()
    {
        // A version that is not a string is rejected for that reason; no header could match it.
        return Ok(());
    }
    let Some(said) = headers.get(&PROTOCOL_VERSION) else {
        return Err("the header `MCP-Protocol-Version` is missing".into());
    };
    let version = match incoming {
        Some(incoming) => Some(Cow::Borrowed(incoming.revision.as_str())),
        None => named(),
    };
    // A body without a version is rejected for that reason, with the name of the missing member.
    let Some(version) = version else {
        return Ok(());
    };
    if said.as_bytes() != version.as_bytes() {
        return Err("`MCP-Protocol-Version` differs from the version in `_meta`".into());
    }
    let revision = match incoming {
        Some(incoming) => Some(incoming.revision),
        None => Revision::from_date(&version).filter(|revision| revision.is_modern()),
    };
    if !revision.is_some_and(|revision| revision.rules().mirrored_headers) {
        // The request is rejected for its version, with a list of the supported versions.
        return Ok(());
    }
    match headers.get(&METHOD) {
        None => return Err("the header `Mcp-Method` is missing".into()),
        Some(method) if method.as_bytes() == request.method.as_bytes() => {}
        Some(_) => return Err("`Mcp-Method` differs from the method in the body".into()),
    }
    let target = incoming.and_then(|incoming| incoming.target.as_ref().ok());
    check_name(headers, request, target)?;
    match (target, relay) {
        (Some(Target::Tool(tool, _)), _) => match &tool.headers {
            Some(mirrored) => check_arguments(headers, request, mirrored),
            None => Ok(()),
        },
        (_, Some((relay, caller))) if incoming.is_some() && request.method == "tools/call" => {
            let name = request.params.text("name").unwrap_or_default();
            match relay.param_headers(caller, &name) {
                Some(mirrored) => check_arguments(headers, request, &mirrored),
                None => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn check_name(
    headers: &HeaderMap,
    request: &Request<'_>,
    target: Option<&Target<'_>>,
) -> Result<(), Cow<'static, str>> {
    let named = match target {
        Some(Target::Tool(_, name) | Target::Prompt(_, name)) => Some(("name", Some(&**name))),
        Some(Target::Resource(_, uri)) => Some(("uri", Some(&**uri))),
        Some(Target::Extension(method)) => method.named_by.map(|member| (member, None)),
        _ => name_of(&request.method).map(|member| (member, None)),
    };
    let Some((member, name)) = named else {
        return Ok(());
    };
    let Some(said) = headers.get(&NAME) else {
        return Err("the header `Mcp-Name` is missing".into());
    };
    let is_same = match name {
        Some(name) => matches(said.as_bytes(), name),
        // A body without the member is rejected by the method itself.
        None => request
            .params
            .text(member)
            .is_none_or(|name| matches(said.as_bytes(), &name)),
    };
    if is_same {
        return Ok(());
    }
    Err(format!("`Mcp-Name` differs from `params.{member}`, or cannot be decoded").into())
}

/// Checks the headers for arguments of the tool.
fn check_arguments(
    headers: &HeaderMap,
    request: &Request<'_>,
    mirrored: &ParamHeaders,
) -> Result<(), Cow<'static, str>> {
    let arguments = request.params.get("arguments");
    let arguments = arguments.unwrap_or(Raw::EMPTY_OBJECT).value();
    let lookup = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
    mirrored
        .check(arguments, lookup)
        .map_err(|fault| fault.to_string().into())
}

/// Returns the name of a repeated `Mcp-*` header. An intermediary that reads the other value would
/// see another request.
pub(super) fn repeated(headers: &HeaderMap) -> Option<&HeaderName> {
    // The map counts them itself, so this costs nothing if no header is repeated.
    if headers.len() == headers.keys_len() {
        return None;
    }
    let is_repeated = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    headers
        .keys()
        .filter(|name| name.as_str().starts_with("mcp-"))
        .find(is_repeated)
}
