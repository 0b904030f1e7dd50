//! Routes requests to the endpoints.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt as _, Limited};
use tower_service::Service;

use super::{
    authorize,
    fault::{Endpoint, Fault},
    introspect, register,
    reply::{self, Problem, Reply},
    revoke,
    state::Site,
    token,
};

/// The size limit of a request's body in bytes. A form with a few tokens is far smaller.
const MAX_BODY_BYTES: usize = 64 * 1024;

/// The time limit for reading a request's body.
const BODY_DEADLINE: Duration = Duration::from_secs(10);

/// The server as a tower service.
#[derive(Clone)]
pub(super) struct AuthorizationService(pub(super) Arc<Site>);

impl<B> Service<Request<B>> for AuthorizationService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Reply;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Reply, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let site = Arc::clone(&self.0);
        Box::pin(async move { Ok(site.answer(request).await) })
    }
}

impl Site {
    async fn answer<B>(&self, request: Request<B>) -> Reply
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let (method, path) = (parts.method, parts.uri.path());
        self.state().note(format!("{method} {path}"));
        if method == Method::OPTIONS {
            return preflight();
        }
        let Some(place) = self.place(path) else {
            return reply::text(StatusCode::NOT_FOUND, "not found");
        };
        if let Some(reply) = self.misbehave(place).await {
            return reply;
        }
        let read = Limited::new(body, MAX_BODY_BYTES).collect();
        let Ok(Ok(body)) = tokio::time::timeout(BODY_DEADLINE, read).await else {
            return reply::text(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body is too long or slow",
            );
        };
        let body = body.to_bytes();
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        let served = self
            .dispatch(place, &method, &parts.headers, query, &body)
            .await;
        served.unwrap_or_else(|problem| problem.reply())
    }

    async fn dispatch(
        &self,
        place: Endpoint,
        method: &Method,
        headers: &HeaderMap,
        query: &[u8],
        body: &[u8],
    ) -> Result<Reply, Problem> {
        match (place, method) {
            (Endpoint::Metadata, &Method::GET) => Ok(reply::document(&self.document())),
            (Endpoint::Keys, &Method::GET) => {
                let keys = self.state().public_keys();
                Ok(reply::document(&keys.to_json()))
            }
            (Endpoint::Register, &Method::POST) => register::serve(self, body),
            (Endpoint::Authorize, &Method::GET) => authorize::serve(self, query).await,
            (Endpoint::Authorize, &Method::POST) => authorize::serve(self, body).await,
            (Endpoint::Token, &Method::POST) => token::serve(self, headers, body).await,
            (Endpoint::Introspect, &Method::POST) => introspect::serve(self, headers, body).await,
            (Endpoint::Revoke, &Method::POST) => revoke::serve(self, headers, body).await,
            _ => Ok(reply::text(
                StatusCode::METHOD_NOT_ALLOWED,
                "method not allowed",
            )),
        }
    }

    fn place(&self, path: &str) -> Option<Endpoint> {
        if self.is_document(path) {
            return Some(Endpoint::Metadata);
        }
        Some(match path.strip_prefix(&self.settings.path)? {
            "/jwks" => Endpoint::Keys,
            "/register" if self.settings.is_open => Endpoint::Register,
            "/authorize" => Endpoint::Authorize,
            "/token" => Endpoint::Token,
            "/introspect" => Endpoint::Introspect,
            "/revoke" => Endpoint::Revoke,
            _ => return None,
        })
    }

    /// Makes the faults that concern an endpoint as a whole.
    async fn misbehave(&self, place: Endpoint) -> Option<Reply> {
        let slow = self.state().orders.take(|fault| match fault {
            Fault::Slow(at, time) if *at == place => Some(*time),
            _ => None,
        });
        if let Some(time) = slow {
            tokio::time::sleep(time).await;
        }
        let mut state = self.state();
        let status = state.orders.take(|fault| match fault {
            Fault::Status(at, status) if *at == place => Some(*status),
            _ => None,
        });
        if let Some(status) = status {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
            return Some(reply::text(status, "status set by `Fault::Status`"));
        }
        let is_garbage = state.orders.has(&Fault::Garbage(place));
        is_garbage.then(|| {
            let mut reply = reply::text(StatusCode::OK, "{\"issuer\": ");
            let kind = HeaderValue::from_static("application/json");
            reply.headers_mut().insert(header::CONTENT_TYPE, kind);
            reply
        })
    }
}

/// Clients may also run in web pages.
fn preflight() -> Reply {
    let mut reply = reply::text(StatusCode::NO_CONTENT, "");
    let headers = reply.headers_mut();
    for (name, value) in [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, dpop, mcp-protocol-version",
        ),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    reply
}
