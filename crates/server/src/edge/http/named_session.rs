//! What the headers of a request say of its session.

use std::sync::Arc;

use http::{Response, StatusCode, request::Parts};
use turnbuckle_protocol::{
    ErrorObject, IdRef, Revision,
    http::header::{PROTOCOL_VERSION, SESSION_ID},
};

use super::{body::HttpBody, mirror, reply, session::HttpSession, site::Site};

/// The session that a request names: `None` if it names none.
///
/// # Errors
/// 404 if there is no such session, or it belongs to another caller; 400 for a version that it does
/// not speak.
#[expect(
    clippy::result_large_err,
    reason = "a refusal is rare, and goes out at once"
)]
pub(super) fn find(
    site: &Site,
    parts: &Parts,
) -> Result<Option<Arc<HttpSession>>, Response<HttpBody>> {
    let Some(id) = parts.headers.get(SESSION_ID) else {
        return Ok(None);
    };
    let found = id
        .to_str()
        .ok()
        .and_then(|id| site.sessions.find(id, &site.caller(parts)));
    let Some(session) = found else {
        return Err(reply::refuse(
            StatusCode::NOT_FOUND,
            "there is no such session, or it has ended: send `initialize` to open a new one",
        ));
    };
    // transports: an invalid or unsupported version MUST get 400.
    if let Some(version) = parts.headers.get(PROTOCOL_VERSION)
        && named_revision(parts).is_none_or(Revision::is_modern)
    {
        let version = String::from_utf8_lossy(version.as_bytes());
        return Err(reply::refuse(
            StatusCode::BAD_REQUEST,
            &format!("`MCP-Protocol-Version: {version}` is not one that a session can speak"),
        ));
    }
    Ok(Some(session))
}

/// The revision that a request names, if that revision has no `GET` and `DELETE`.
pub(super) fn without_streams(parts: &Parts) -> Option<Revision> {
    named_revision(parts).filter(|revision| !revision.rules().standing_streams)
}

/// The revision that a request names, if it is a modern one.
pub(super) fn modern_revision(parts: &Parts) -> Option<Revision> {
    named_revision(parts).filter(|revision| revision.is_modern())
}

fn named_revision(parts: &Parts) -> Option<Revision> {
    let version = parts.headers.get(PROTOCOL_VERSION)?;
    version.to_str().ok().and_then(Revision::from_date)
}

/// A refusal of a request that says the same thing twice.
pub(super) fn check_repeated(parts: &Parts, id: Option<&IdRef<'_>>) -> Option<Response<HttpBody>> {
    let name = mirror::repeated(&parts.headers)?;
    let problem = format!("duplicate header `{name}`; send it once");
    let error = ErrorObject::header_mismatch(problem);
    Some(reply::error(StatusCode::BAD_REQUEST, id, &error))
}
