//! Sessions that were opened on another replica, or here before a restart.

use std::sync::Arc;

use http::{Response, request::Parts};

use super::{
    at_replica::AtReplica, body::HttpBody, notes, session::HttpSession, sessions::NoSession,
    site::Site,
};
use crate::{
    ClientInfo,
    client::{Opened, Session},
    engine::method,
    replica::Replicas,
};

/// Opens a session on this replica if its id is a handshake. `None` if the id is invalid, or if the
/// session belongs to another caller or has ended.
///
/// # Errors
/// A refusal if there is no room for the session, or if its handshake cannot be read at the moment.
pub(super) async fn reopen(
    site: &Arc<Site>,
    replicas: &Arc<Replicas>,
    parts: &Parts,
    id: &str,
) -> Result<Option<Arc<HttpSession>>, Response<HttpBody>> {
    let Some(opened) = replicas.open_id(id) else {
        return Ok(None);
    };
    let mut handshake = opened.handshake;
    let rest = match handshake.rest.take() {
        Some(rest) => Some(rest),
        None => replicas.handshake_part(&opened.key).await,
    };
    let Some(rest) = rest else {
        let problem = "the session cannot be read from the store that replicas share: try again \
                       later, or open a new one";
        return Err(NoSession::NoId(problem.into()).refuse(None));
    };
    let caller = site.caller(parts);
    // A session belongs to the caller who opened it; an id alone is not enough.
    if rest.caller.as_deref() != caller.id() {
        return Ok(None);
    }
    let kept = serde_json::to_string(&rest).map_or(0, |text| method::kept_of(&text));
    let left = replicas.time_left(&handshake);
    let place = replicas.new_place();
    let key = site.key(parts);
    let promised = handshake.promised();
    let client = ClientInfo {
        info: rest.info,
        capabilities: rest.capabilities,
    };
    let at = AtReplica::reopened(replicas, place, opened.key, left);
    let lifecycle = Session::new(site.shared.context.changes.hub(), key)
        .with_notices(site.shared.notices_of(&caller))
        .with_prefix(&place.prefix())
        .with_handshake(handshake.revision, Opened { client, promised });
    if let Err(full) = lifecycle.listener().pay(kept) {
        tracing::warn!(%full, "a session of another replica cannot be served here");
        return Err(NoSession::NoId(full.to_string()).refuse(None));
    }
    let (closing, payer) = (site.closing.clone(), site.payer(parts));
    let limits = site.shared.settings.limits;
    let lifecycle = Arc::new(lifecycle);
    let session = HttpSession::new(
        id.into(),
        Some(at),
        caller,
        lifecycle,
        limits,
        closing,
        payer,
    );
    // The client has sent `notifications/initialized` to the other replica, or never sends it.
    session.peer.initialized();
    let opened = site.sessions.open(id.into(), key, |_| session);
    let session = opened.map_err(|full| full.refuse(None))?;
    session.touch();
    // From now on other replicas can report changes. Earlier changes are read now.
    if !notes::refresh(site, &session).await {
        site.sessions.end(&session);
        return Ok(None);
    }
    // A client that listens here may send no call for long.
    notes::go_on_reading(site, &session);
    Ok(Some(session))
}
