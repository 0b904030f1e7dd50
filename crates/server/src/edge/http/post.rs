//! `POST <endpoint>`: reads the message and determines its era.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode, request::Parts};
use http_body::Body;
use turnbuckle_protocol::{
    ErrorObject, Revision,
    envelope::{self, Frame, Message, Raw, Request},
    error::code,
};
use turnbuckle_session::{Era, era};

use super::{
    batch,
    body::HttpBody,
    elsewhere,
    header_name::{PROTOCOL_VERSION, SESSION_ID},
    media,
    modern::{self, RequestAnswer},
    named_session, read, reply, session_post,
    site::Site,
};
use crate::{
    client::requests,
    edge::batch as edge_batch,
    engine::{
        admission,
        budget::{Charge, LARGE_BYTES},
    },
};

/// The maximum length of an `initialize` request, in bytes. The client's description of itself is
/// kept during the session, so ten thousand sessions must not be able to keep ten thousand large
/// messages.
const MAX_INITIALIZE_BYTES: usize = 128 * 1024;

pub(super) async fn serve<B>(site: &Arc<Site>, parts: &Parts, body: B) -> Response<HttpBody>
where
    B: Body<Data = Bytes> + Send + 'static,
{
    if let Some(refused) = media::check(&parts.headers) {
        return refused;
    }
    let (body, paid) = match read::whole(body, site, || site.key(parts)).await {
        Ok(read) => read,
        Err(error) => return error.answer(),
    };
    if body.len() <= LARGE_BYTES {
        return serve_body(site, parts, body, paid).await;
    }
    let (shared, parts) = (Arc::clone(site), parts.clone());
    let serving = async move { serve_body(&shared, &parts, body, paid).await };
    elsewhere::begin(&site.shared.allowances.budget, Box::pin(serving)).await
}

/// Serves a body that has arrived. `paid` is the charge that was made while it arrived.
async fn serve_body(
    site: &Arc<Site>,
    parts: &Parts,
    body: Bytes,
    mut charge: Option<Charge>,
) -> Response<HttpBody> {
    let answer = begin(site, parts, &body, &mut charge).await;
    // The body may be large, and the answer may take hours.
    drop(body);
    let mut response = match answer {
        RequestAnswer::Now(response) => response,
        RequestAnswer::Later(later) => modern::finish(site, parts, later).await,
    };
    if let Some(charge) = charge {
        response.body_mut().hold(charge);
    }
    response
}

/// Reads a message and starts to serve it. The charge that was made while it arrived is held until
/// it is answered.
async fn begin(
    site: &Arc<Site>,
    parts: &Parts,
    body: &[u8],
    charge: &mut Option<Charge>,
) -> RequestAnswer {
    let paid = charge.take();
    let budget = &site.shared.allowances.budget;
    // Checked before parsing, so that a batch that is not allowed is not parsed.
    if body.trim_ascii_start().first() == Some(&b'[') {
        if let Some(refused) = named_session::check_repeated(parts, None) {
            return refused.into();
        }
        let response = match named_session::find(site, parts).await {
            Ok(Some(session)) => batch::serve(site, &session, parts, body, paid).await,
            Ok(None) => batch::unknown(),
            Err(response) => response,
        };
        return response.into();
    }
    let max_nodes = site.shared.settings.limits.nodes_of(body.len());
    let (message, nodes) = match envelope::parse_within(body, max_nodes) {
        Ok((Frame::One(message), nodes)) => (message, nodes),
        Ok((Frame::Batch(_), _)) => return batch::unknown().into(),
        Err(malformed) => {
            let session = named_session::find(site, parts).await.ok().flatten();
            let question = requests::unreadable_answer(&malformed, body);
            if let (Some(session), Some(id)) = (&session, question) {
                session_post::unanswered(site, session, &id, &malformed.message).await;
            }
            let unreadable = session.map_or(Revision::LATEST.rules().unreadable_id, |session| {
                edge_batch::unreadable(&session.peer)
            });
            return reply::malformed(&malformed, unreadable).into();
        }
    };
    let id = match &message {
        Message::Request(request) => Some(&request.id),
        Message::Notification(_) | Message::Response(_) => None,
    };
    if let Some(refused) = named_session::check_repeated(parts, id) {
        return refused.into();
    }
    *charge = match budget.message(paid, body.len(), nodes, || site.key(parts)) {
        Ok(charge) => Some(charge),
        Err(over) => return reply::over_budget(over, id).into(),
    };
    match &message {
        Message::Request(request) if request.method == "initialize" => {
            initialize(site, parts, request, body.len()).await.into()
        }
        Message::Request(request) => serve_request(site, parts, request, charge).await,
        message => accept(site, parts, message).await.into(),
    }
}

/// Handles a notification or a response.
async fn accept(site: &Arc<Site>, parts: &Parts, message: &Message<'_>) -> Response<HttpBody> {
    if let Message::Notification(notice) = message
        && named_session::modern_revision(parts).is_some()
    {
        // streamable-http: the core has no notifications for this case, but an extension may have
        // some.
        let (extensions, caller) = (&site.shared.extensions, site.caller(parts));
        extensions.notify(&notice.method, &notice.params, &caller);
        return reply::empty(StatusCode::ACCEPTED);
    }
    match named_session::find(site, parts).await {
        Ok(Some(session)) => session_post::accept(site, &session, message).await,
        Ok(None) => reply::refuse(
            StatusCode::BAD_REQUEST,
            "notifications and responses belong to a session: name it with `Mcp-Session-Id`",
        ),
        Err(response) => response,
    }
}

async fn initialize(
    site: &Arc<Site>,
    parts: &Parts,
    request: &Request<'_>,
    length: usize,
) -> Response<HttpBody> {
    // A legacy client sends its version in the params. If both the header and `_meta` name a modern
    // revision, the request is a modern one for an unknown method, which MUST be answered with 404.
    if let Some(revision) = named_session::modern_revision(parts)
        && admission::names_version(request)
    {
        let message = format!("{revision} has no `initialize`: send requests without it");
        let error = ErrorObject::new(code::METHOD_NOT_FOUND, message);
        return reply::error(StatusCode::NOT_FOUND, Some(&request.id), &error);
    }
    if length > MAX_INITIALIZE_BYTES {
        let error = ErrorObject::invalid_request(format!(
            "an `initialize` may have at most {MAX_INITIALIZE_BYTES} bytes"
        ));
        return reply::error(StatusCode::PAYLOAD_TOO_LARGE, Some(&request.id), &error);
    }
    session_post::initialize(site, parts, request).await
}

async fn serve_request(
    site: &Arc<Site>,
    parts: &Parts,
    request: &Request<'_>,
    charge: &mut Option<Charge>,
) -> RequestAnswer {
    let version = request.params.meta().and_then(|meta| meta.protocol_version);
    let header = parts.headers.get(&PROTOCOL_VERSION);
    let header = header.and_then(|value| value.to_str().ok());
    let names_session = parts.headers.contains_key(&SESSION_ID);
    match era::of_post(&request.method, version.map(Raw::get), header) {
        // A request of a session is legacy, even if its headers look modern.
        Era::Modern if version.is_some() || !names_session => {
            modern::serve(site, parts, request, charge)
        }
        Era::Legacy if !names_session && admission::forgot_its_version(request) => {
            modern::serve_without_version(site, parts, request, charge)
        }
        _ => match named_session::find(site, parts).await {
            Ok(Some(session)) => {
                let caller = site.caller(parts);
                let served = session_post::serve(site, &session, caller, request, charge);
                served.await.into()
            }
            Ok(None) => {
                let error = ErrorObject::invalid_request(
                    "the request has no `Mcp-Session-Id`: send `initialize` first and add the \
                     `Mcp-Session-Id` of its response to each request, or put the protocol version \
                     and the client's capabilities into the request's `_meta`",
                );
                reply::error(StatusCode::BAD_REQUEST, Some(&request.id), &error).into()
            }
            Err(response) => response.into(),
        },
    }
}
