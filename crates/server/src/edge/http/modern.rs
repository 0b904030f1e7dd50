//! Modern requests: compares the headers with the body, then serves the request.
//!
//! Nothing is kept after the exchange. The answer is JSON unless a message is sent before it; then
//! it is a stream, which itself polls the handler. If the client disconnects, the answer is
//! dropped, and the handler with it.

use std::sync::Arc;

use futures_core::future::BoxFuture;
use http::{Response, StatusCode, request::Parts};
use turnbuckle_protocol::{
    ErrorObject, Id,
    envelope::Request,
    http::{status_of, status_of_answer},
};
use turnbuckle_session::Era;
use turnbuckle_transport::Outbox;

use super::{
    body::HttpBody,
    exchange_body::{self, AnswerTo, BodyStart},
    guard, listen_body, mirror, reply,
    site::Site,
};
use crate::{
    client::Peer,
    engine::{
        Served, Wrote, admission,
        budget::Charge,
        method, sink,
        unsent::{self, Unsent},
    },
};

/// The answer to a request.
pub(super) enum RequestAnswer {
    Now(Response<HttpBody>),
    Later(LaterAnswer),
}

/// An answer that follows later. It does not borrow from the message.
pub(super) struct LaterAnswer {
    id: Id,
    outbox: Outbox,
    running: BoxFuture<'static, sink::Response>,
}

impl From<Response<HttpBody>> for RequestAnswer {
    fn from(response: Response<HttpBody>) -> Self {
        Self::Now(response)
    }
}

pub(super) fn serve(
    site: &Arc<Site>,
    parts: &Parts,
    request: &Request<'_>,
    charge: &mut Option<Charge>,
) -> RequestAnswer {
    let (peer, outbox) = peer(site, parts);
    let admitted = admission::admit(&site.shared, &peer, Era::Modern, request);
    if let Ok(incoming) = &admitted
        && let Some(refused) = guard::check_scopes(site, incoming)
    {
        return refused.into();
    }
    let relay = site
        .shared
        .relay
        .as_deref()
        .map(|relay| (relay, peer.caller()));
    if let Err(problem) = mirror::check(&parts.headers, request, admitted.as_ref().ok(), relay) {
        let error = ErrorObject::header_mismatch(problem);
        return reply::error(StatusCode::BAD_REQUEST, Some(&request.id), &error).into();
    }
    let mut response = sink::Response::default();
    let served = match admitted {
        Ok(incoming) => method::serve(&site.shared, &incoming, &mut response),
        Err(inadmissible) => {
            inadmissible.refuse(&request.id, &mut response);
            return json(response, status_of).into();
        }
    };
    match served {
        Served::Done if outbox.pending_bytes() == 0 => {
            let pay =
                |response| unsent::pay(&site.shared, response, &request.id, || site.key(parts));
            json(pay(response), status_of_answer).into()
        }
        Served::Done => {
            let ready = Box::pin(std::future::ready(response));
            let answered = answer_to(site, parts, request.id.clone().into_owned());
            reply::events(exchange_body::stream(outbox, ready, site, answered)).into()
        }
        Served::Later(running) => RequestAnswer::Later(LaterAnswer {
            id: request.id.clone().into_owned(),
            outbox,
            running,
        }),
        Served::Listening(subscription) => {
            // The stream may be open for hours, and its memory is counted elsewhere.
            drop(charge.take());
            reply::events(listen_body::stream(*subscription, site)).into()
        }
    }
}

/// Answers a request without a version. The client gets this error before any error about missing
/// headers.
pub(super) fn serve_without_version(
    site: &Arc<Site>,
    parts: &Parts,
    request: &Request<'_>,
    charge: &mut Option<Charge>,
) -> RequestAnswer {
    let (peer, _) = peer(site, parts);
    let Err(inadmissible) = admission::admit(&site.shared, &peer, Era::Modern, request) else {
        return serve(site, parts, request, charge);
    };
    let mut response = sink::Response::default();
    inadmissible.refuse(&request.id, &mut response);
    json(response, status_of).into()
}

fn peer(site: &Arc<Site>, parts: &Parts) -> (Arc<Peer>, Outbox) {
    let outbox = unsent::outbox(&site.shared, site.key(parts));
    let closing = site.closing.clone();
    let peer = Peer::new(site.caller(parts), outbox.clone(), None, closing);
    (Arc::new(peer.counted(site.counted(parts))), outbox)
}

/// Waits for the answer, or for a message that is sent before it.
pub(super) async fn finish(
    site: &Arc<Site>,
    parts: &Parts,
    later: LaterAnswer,
) -> Response<HttpBody> {
    let LaterAnswer {
        id,
        outbox,
        running,
    } = later;
    let answered = || answer_to(site, parts, id.clone());
    match exchange_body::begin(outbox, running, site, answered).await {
        BodyStart::Whole(response) => {
            let paid = unsent::pay(&site.shared, response, &id.as_ref(), || site.key(parts));
            json(paid, status_of_answer)
        }
        BodyStart::Stream(body) => reply::events(body),
    }
}

fn answer_to(site: &Site, parts: &Parts, id: Id) -> AnswerTo {
    let unsent = Unsent::of(&site.shared, site.key(parts));
    AnswerTo { unsent, id }
}

fn json(response: sink::Response, status: fn(i64) -> u16) -> Response<HttpBody> {
    let status = match response.wrote {
        Wrote::Result => StatusCode::OK,
        Wrote::Error(code) => StatusCode::from_u16(status(code)).unwrap_or(StatusCode::OK),
    };
    reply::whole(status, response)
}
