//! The origin of the pages of tools: a separate port that serves only them.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::{
    answer::{self, Answer},
    inspector::Inspector,
};

/// Serves the page of a tool under its policy. The sandbox gives each page an opaque origin of its own.
pub(super) fn serve(
    inspector: &Arc<Inspector>,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    (own, parent): (&str, &str),
) -> Answer {
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    if host.map(|host| format!("http://{host}")).as_deref() != Some(own) {
        let reason = "the Host header must be that of the app's page";
        return answer::wrong(StatusCode::FORBIDDEN, reason);
    }
    let nonce = path.strip_prefix("/app/").filter(|_| method == Method::GET);
    let Some(page) = nonce.and_then(|nonce| inspector.apps.page(nonce)) else {
        return answer::not_found("page");
    };
    let policy = format!(
        "{}; frame-ancestors {parent}; sandbox allow-scripts allow-forms",
        page.policy
    );
    let mut answer = answer::bytes(StatusCode::OK, "text/html; charset=utf-8", page.html);
    let headers = answer.headers_mut();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    } else {
        return answer::wrong(
            StatusCode::BAD_GATEWAY,
            "the page's content security policy is invalid",
        );
    }
    let no_sniff = HeaderValue::from_static("nosniff");
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, no_sniff);
    let no_referrer = HeaderValue::from_static("no-referrer");
    headers.insert(header::REFERRER_POLICY, no_referrer);
    answer
}
