//! The headers that let browsers read answers from pages of other origins (CORS).

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use turnbuckle_protocol::http::header::PARAM_PREFIX;

use super::{
    body::HttpBody,
    reply,
    settings::{AllowList, Cors, HttpSettings},
};

/// The origin that the browser must be told, if CORS is enabled. It was checked before.
pub(super) fn origin(settings: &HttpSettings, headers: &HeaderMap) -> Option<HeaderValue> {
    match settings.cors {
        Cors::Disabled => None,
        Cors::Enabled => headers.get(header::ORIGIN).cloned(),
    }
}

/// The answer to a preflight request.
pub(super) fn preflight(settings: &HttpSettings, request: &HeaderMap) -> Response<HttpBody> {
    let rules = &settings.cors_rules;
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    if let Ok(methods) = HeaderValue::from_str(&rules.methods) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    }
    if let Some(allowed) = allowed_headers(&rules.headers, request) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, rules.max_age.clone());
    response
}

/// Lets a page of this origin read the answer.
pub(super) fn allow_reading(settings: &HttpSettings, headers: &mut HeaderMap, origin: HeaderValue) {
    let rules = &settings.cors_rules;
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, rules.exposed.clone());
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if rules.credentials && settings.origins != AllowList::Any {
        let yes = HeaderValue::from_static("true");
        headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, yes);
    }
}

/// The allowed headers: those of the rules, and headers for arguments, whose names only the tools
/// know.
fn allowed_headers(known: &str, request: &HeaderMap) -> Option<HeaderValue> {
    let wanted = request.get(header::ACCESS_CONTROL_REQUEST_HEADERS);
    let wanted = wanted.and_then(|wanted| wanted.to_str().ok());
    let mut allowed = known.to_owned();
    for name in wanted.unwrap_or_default().split(',').map(str::trim) {
        if name.to_ascii_lowercase().starts_with(PARAM_PREFIX) {
            allowed.push_str(", ");
            allowed.push_str(name);
        }
    }
    let allowed = HeaderValue::from_str(&allowed);
    allowed.or_else(|_| HeaderValue::from_str(known)).ok()
}
