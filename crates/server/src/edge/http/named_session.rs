//! The session and the revision that the headers of a request name.

use std::sync::Arc;

use http::{HeaderValue, Response, StatusCode, request::Parts};
use turnbuckle_protocol::{ErrorObject, IdRef, Revision};

use super::{
    at_replica::AtReplica,
    body::HttpBody,
    header_name::{PROTOCOL_VERSION, SESSION_ID},
    mirror, notes, reopen, reply,
    session::HttpSession,
    site::Site,
};

/// Finds the session that a request names; `None` if it names no session.
///
/// # Errors
/// 404 if there is no such session, or if it belongs to another caller; 400 for a version other
/// than that of the session.
pub(super) async fn find(
    site: &Arc<Site>,
    parts: &Parts,
) -> Result<Option<Arc<HttpSession>>, Response<HttpBody>> {
    let Some(id) = parts.headers.get(&SESSION_ID) else {
        return Ok(None);
    };
    let id = id.to_str().unwrap_or_default();
    let mut found = site.sessions.find(id, site.caller_id(parts));
    if site.shared.replicas.is_some() {
        // Boxed, because otherwise the future of every request would contain it and would be larger
        // to copy.
        found = Box::pin(shared(site, parts, id, found)).await?;
    }
    let Some(session) = found else {
        return Err(reply::refuse(
            StatusCode::NOT_FOUND,
            "the session is unknown or has ended: send `initialize` to open a new one",
        ));
    };
    // transports: an invalid or unsupported version MUST get 400.
    if let Some(version) = parts.headers.get(&PROTOCOL_VERSION)
        && revision_of(version).is_none_or(Revision::is_modern)
    {
        let version = String::from_utf8_lossy(version.as_bytes());
        return Err(reply::refuse(
            StatusCode::BAD_REQUEST,
            &format!("`MCP-Protocol-Version: {version}` is not a version that sessions support"),
        ));
    }
    Ok(Some(session))
}

/// Returns a session that replicas share, with the changes that others made in it. It is opened on
/// this replica if necessary.
async fn shared(
    site: &Arc<Site>,
    parts: &Parts,
    id: &str,
    found: Option<Arc<HttpSession>>,
) -> Result<Option<Arc<HttpSession>>, Response<HttpBody>> {
    let Some(session) = found else {
        return match &site.shared.replicas {
            Some(replicas) => reopen::reopen(site, replicas, parts, id).await,
            None => Ok(None),
        };
    };
    let is_over = session.at.as_ref().is_some_and(AtReplica::is_over);
    if is_over || !notes::refresh(site, &session).await {
        site.sessions.end(&session);
        return Ok(None);
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
    parts.headers.get(&PROTOCOL_VERSION).and_then(revision_of)
}

fn revision_of(version: &HeaderValue) -> Option<Revision> {
    version.to_str().ok().and_then(Revision::from_date)
}

/// Returns a refusal if a header is repeated.
pub(super) fn check_repeated(parts: &Parts, id: Option<&IdRef<'_>>) -> Option<Response<HttpBody>> {
    let name = mirror::repeated(&parts.headers)?;
    let problem = format!("duplicate header `{name}`; send it once");
    let error = ErrorObject::header_mismatch(problem);
    Some(reply::error(StatusCode::BAD_REQUEST, id, &error))
}
