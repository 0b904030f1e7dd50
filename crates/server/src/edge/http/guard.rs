//! Calls the guard of a protected server for a request.

use http::{HeaderName, HeaderValue, Response, request::Parts};
use turnbuckle_protocol::{ErrorObject, IdRef, error::code};

use super::{
    body::HttpBody,
    protect::{AuthDecision, Authorized, HttpRefusal, Protect},
    reply,
    site::Site,
};
use crate::engine::{Denied, Incoming};

/// Asks the guard about a request. The caller is put into the request's extensions; the returned
/// headers must be added to the answer.
pub(super) async fn admit(
    guard: &dyn Protect,
    parts: &mut Parts,
) -> Result<Vec<(HeaderName, HeaderValue)>, Box<Response<HttpBody>>> {
    let admitted = match guard.admit(parts) {
        AuthDecision::Now(admitted) => admitted,
        AuthDecision::Later(asked) => asked.await,
    };
    match admitted {
        Ok(Authorized { caller, headers }) => {
            parts.extensions.insert(caller);
            Ok(headers)
        }
        Err(refusal) => Err(Box::new(answer(refusal, None))),
    }
}

/// Returns a refusal if the request needs more scopes than its caller has. This is checked before
/// the call starts, because the status cannot be changed later.
pub(super) fn check_scopes(site: &Site, incoming: &Incoming<'_>) -> Option<Response<HttpBody>> {
    match (&incoming.target, &site.guard) {
        (Err(Denied::Scopes(tool)), Some(guard)) => {
            Some(answer(guard.lacking(&tool.scopes), Some(incoming.id)))
        }
        _ => None,
    }
}

pub(super) fn add(response: &mut Response<HttpBody>, headers: Vec<(HeaderName, HeaderValue)>) {
    for (name, value) in headers {
        response.headers_mut().append(name, value);
    }
}

fn answer(refusal: HttpRefusal, id: Option<&IdRef<'_>>) -> Response<HttpBody> {
    let error = ErrorObject::new(code::INVALID_REQUEST, refusal.message);
    let mut response = reply::error(refusal.status, id, &error);
    add(&mut response, refusal.headers);
    response
}
