//! The server as a tower service: nest it in axum, run it under hyper.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts};
use http_body::Body;
use tower_service::Service;

use super::{
    body::HttpBody,
    card, door, http_sse, post, reply,
    route::{self, Route},
    session_get,
    sessions::Sessions,
    settings::{Cors, HttpSettings},
};
use crate::{Caller, LiveServer, shared::Shared};

/// A server that speaks HTTP: a tower service.
///
/// Who calls is [`Caller::local`] unless a layer in front put a [`Caller`] into the request's
/// extensions.
#[derive(Clone)]
pub struct HttpService(Arc<Site>);

/// What all requests share.
pub(super) struct Site {
    pub(super) shared: Arc<Shared>,
    pub(super) settings: HttpSettings,
    pub(super) sessions: Sessions,
    pub(super) endpoint: Option<String>,
}

impl HttpService {
    pub(crate) fn new(
        server: &LiveServer,
        settings: HttpSettings,
        endpoint: Option<String>,
    ) -> Self {
        Self(Arc::new(Site {
            shared: server.shared(),
            sessions: Sessions::new(&settings),
            settings,
            endpoint,
        }))
    }

    /// Ends every session and stream, so that connections can close.
    pub(crate) fn close(&self) {
        self.0.shared.closing.set();
        self.0.sessions.close();
    }
}

impl<B> Service<Request<B>> for HttpService
where
    B: Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let site = Arc::clone(&self.0);
        Box::pin(async move { Ok(site.answer(request).await) })
    }
}

impl Site {
    async fn answer<B>(self: Arc<Self>, request: Request<B>) -> Response<HttpBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
    {
        let (parts, body) = request.into_parts();
        let route = route::of(parts.uri.path(), self.endpoint.as_deref());
        if route == Route::Health {
            return card::health();
        }
        if let Err(refused) = door::check(&self.settings, &parts.headers, &parts.uri) {
            // streamable-http: a request with an invalid Origin MUST get 403.
            return reply::refuse(StatusCode::FORBIDDEN, reply::NOT_HERE, &refused.to_string());
        }
        let Some(origin) = self.cors_origin(&parts.headers) else {
            return self.dispatch(route, parts, body).await;
        };
        let mut response = if parts.method == Method::OPTIONS {
            preflight()
        } else {
            self.dispatch(route, parts, body).await
        };
        allow_reading(response.headers_mut(), origin);
        response
    }

    async fn dispatch<B>(self: Arc<Self>, route: Route, parts: Parts, body: B) -> Response<HttpBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
    {
        match (route, &parts.method) {
            (Route::Endpoint, &Method::POST) => post::serve(&self, &parts, body).await,
            (Route::Endpoint, &Method::GET) => session_get::open(&self, &parts),
            (Route::Endpoint, &Method::DELETE) => session_get::end(&self, &parts),
            (Route::Endpoint, _) => reply::not_allowed("POST, GET, DELETE", "post a message here"),
            (Route::Sse, &Method::GET) => http_sse::open(&self, &parts),
            (Route::Sse, _) => reply::not_allowed("GET", "the stream of HTTP+SSE is opened by GET"),
            (Route::Messages, &Method::POST) => http_sse::receive(&self, &parts, body).await,
            (Route::Messages, _) => reply::not_allowed("POST", "post a message here"),
            (Route::Card, &Method::GET) => card::card(&self, &parts),
            (Route::Card, _) => reply::not_allowed("GET", "the server card is read by GET"),
            (Route::Health | Route::Nowhere, _) => self.nowhere(),
        }
    }

    fn nowhere(&self) -> Response<HttpBody> {
        let endpoint = self.endpoint.as_deref().unwrap_or("/");
        let message = format!("there is nothing here: the endpoint is at `{endpoint}`");
        reply::refuse(StatusCode::NOT_FOUND, reply::NOT_HERE, &message)
    }

    /// The origin to tell a browser about, where CORS is on.
    fn cors_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        if self.settings.cors == Cors::Silent {
            return None;
        }
        headers.get(header::ORIGIN).cloned()
    }
}

/// Who calls: whom a layer in front found, or whoever started the process.
pub(super) fn caller(parts: &Parts) -> Caller {
    parts
        .extensions
        .get::<Caller>()
        .cloned()
        .unwrap_or_default()
}

fn preflight() -> Response<HttpBody> {
    let mut response = reply::empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("POST, GET, DELETE, OPTIONS"),
    );
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static(
            "authorization, content-type, accept, last-event-id, mcp-method, mcp-name, \
             mcp-protocol-version, mcp-session-id, traceparent, tracestate, baggage",
        ),
    );
    headers.insert(
        header::ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static("600"),
    );
    response
}

fn allow_reading(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        header::ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("mcp-session-id, mcp-protocol-version, www-authenticate"),
    );
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}
