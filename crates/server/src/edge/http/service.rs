//! The server as a tower service: nest it in axum, run it under hyper.

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{Method, Request, Response, StatusCode, request::Parts};
use http_body::Body;
use tower_service::Service;
use turnbuckle_transport::http::Peer;

use super::{
    body::HttpBody,
    cors, documents,
    door::{self, Refused},
    extra_routes, guard, http_sse, post,
    protect::Protect,
    reply,
    route::{self, Route},
    server_card, session_get,
    settings::HttpSettings,
    site::{Mount, Site},
};
use crate::engine::Shared;

/// A server as a tower service that speaks HTTP. Created by
/// [`LiveServer::http`](crate::LiveServer::http).
///
/// The caller is [`Caller::local`](crate::Caller::local), unless a layer in front of it has put a
/// [`Caller`](crate::Caller) into the request's extensions, or the guard of
/// [`HttpService::protect`] has identified the caller.
#[derive(Clone)]
pub struct HttpService(Arc<Site>);

impl HttpService {
    pub(crate) fn new(shared: Arc<Shared>, settings: HttpSettings, endpoint: Option<&str>) -> Self {
        let endpoint = endpoint.map(route::endpoint);
        Self(Site::open(shared, settings, endpoint, None, None))
    }

    /// Sets the path at which a router serves this service, such as `/api/mcp`, or the complete URL
    /// that clients use. The server card contains it, and every other path below it is answered
    /// with 404. Without this, the service treats every path as its endpoint.
    ///
    /// It works with routers that strip the path, such as `nest_service` of axum, and with those
    /// that keep it, such as `route_service`. The returned service does not have the sessions that
    /// were opened before.
    ///
    /// ```
    /// # fn run(server: turnbuckle_server::LiveServer) {
    /// let service = server.http().mounted_at("/api/mcp");
    /// let app: axum::Router = axum::Router::new().nest_service("/api/mcp", service);
    /// # }
    /// ```
    pub fn mounted_at(self, place: &str) -> Self {
        let site = &self.0;
        Self(Site::open(
            Arc::clone(&site.shared),
            site.settings.clone(),
            site.endpoint.clone(),
            Some(Mount::at(place)),
            site.guard.clone(),
        ))
    }

    /// Serves a whole site, with the endpoint at this path, as [`Http`](crate::Http) does: the
    /// server card contains the path, and `/.well-known/ai-catalog.json` is answered, too. Use it
    /// if your HTTP server passes on all requests with the path that clients sent. The returned
    /// service does not have the sessions that were opened before.
    ///
    /// ```
    /// # fn run(server: turnbuckle_server::LiveServer) {
    /// let service = server.http().whole_site("/mcp");
    /// let app: axum::Router = axum::Router::new().fallback_service(service);
    /// # }
    /// ```
    pub fn whole_site(self, endpoint: &str) -> Self {
        let site = &self.0;
        Self(Site::open(
            Arc::clone(&site.shared),
            site.settings.clone(),
            Some(route::endpoint(endpoint)),
            None,
            site.guard.clone(),
        ))
    }

    /// Admits only callers that the guard accepts. The returned service does not have the sessions
    /// that were opened before.
    ///
    /// `/healthz`, the server card and the guard's own documents stay public. A service that is
    /// nested under a path does not get requests for `/.well-known/`: route these to a clone of it,
    /// too.
    pub fn protect(self, guard: impl Protect) -> Self {
        let hosts = guard.hosts().into_iter();
        let settings = hosts.fold(self.0.settings.clone(), HttpSettings::allow_host);
        let (shared, endpoint) = (Arc::clone(&self.0.shared), self.0.endpoint.clone());
        Self(Site::open(
            shared,
            settings,
            endpoint,
            self.0.mount.clone(),
            Some(Arc::new(guard)),
        ))
    }

    /// Ends streams that would stay open, so that connections can close: subscriptions end, `GET`
    /// streams of sessions end, and no new session is opened. Running requests finish.
    ///
    /// [`Http`](crate::Http) does this when it stops. If the service runs in another HTTP server,
    /// such as axum, call this before that server waits for its connections.
    pub fn begin_shutdown(&self) {
        self.0.closing.set();
        self.0.sessions.begin_shutdown();
    }
}

impl<B> Service<Request<B>> for HttpService
where
    B: Body<Data = Bytes> + Send + 'static,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<HttpBody>, Infallible>>;

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
        let (mut parts, body) = request.into_parts();
        if let Some(address) = self.settings.address.as_ref().and_then(|it| it.of(&parts)) {
            let known = parts.extensions.get::<Peer>().copied();
            let peer = known.map_or_else(|| Peer::tcp(address), |peer| peer.at(address));
            parts.extensions.insert(peer);
        }
        let path = parts.uri.path();
        let route = match (&self.mount, &self.endpoint) {
            (Some(mount), _) => route::of_mounted(path, &mount.path),
            (None, Some(endpoint)) => route::of_site(path, endpoint),
            (None, None) => route::of(path, None),
        };
        if route == Route::Health {
            return documents::health();
        }
        let checked = door::check(&self.settings, &parts.headers, &parts.uri);
        if matches!(route, Route::Card | Route::Catalog)
            && matches!(checked, Ok(()) | Err(Refused::Origin(_)))
            && server_card::is_for_every_page(&parts)
        {
            return match parts.method {
                Method::OPTIONS => server_card::preflight(),
                _ => self.dispatch(route, parts, body).await,
            };
        }
        if let Err(refused) = checked {
            return reply::refuse(refused.status(), &refused.to_string());
        }
        if let Some(routes) = &self.settings.extra_routes
            && let Some(text) = routes.answer(&parts.method, &parts.uri, &parts.headers)
        {
            return extra_routes::response(text);
        }
        let Some(origin) = cors::origin(&self.settings, &parts.headers) else {
            return self.guarded(route, parts, body).await;
        };
        let site = Arc::clone(&self);
        let mut response = if parts.method == Method::OPTIONS {
            cors::preflight(&site.settings, &parts.headers)
        } else {
            self.guarded(route, parts, body).await
        };
        cors::allow_reading(&site.settings, response.headers_mut(), origin);
        response
    }

    async fn guarded<B>(
        self: Arc<Self>,
        route: Route,
        mut parts: Parts,
        body: B,
    ) -> Response<HttpBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
    {
        let Some(guard) = &self.guard else {
            return self.dispatch(route, parts, body).await;
        };
        if let Some(document) = guard.document(parts.uri.path()) {
            return documents::document(&parts, &document);
        }
        if matches!(route, Route::Card | Route::Catalog | Route::Nowhere) {
            return self.dispatch(route, parts, body).await;
        }
        match guard::admit(&**guard, &mut parts).await {
            Ok(headers) => {
                let mut response = self.dispatch(route, parts, body).await;
                guard::add(&mut response, headers);
                response
            }
            Err(response) => *response,
        }
    }

    async fn dispatch<B>(self: Arc<Self>, route: Route, parts: Parts, body: B) -> Response<HttpBody>
    where
        B: Body<Data = Bytes> + Send + 'static,
    {
        match (route, &parts.method) {
            (Route::Endpoint, &Method::POST) => post::serve(&self, &parts, body).await,
            (Route::Endpoint, &Method::GET) => session_get::open(&self, &parts).await,
            (Route::Endpoint, &Method::DELETE) => session_get::end(&self, &parts).await,
            (Route::Endpoint, _) => {
                reply::not_allowed("POST, GET, DELETE", "send messages to this path with POST")
            }
            (Route::Sse, &Method::GET) => http_sse::open(&self, &parts),
            (Route::Sse, _) => reply::not_allowed("GET", "open the stream of HTTP+SSE with GET"),
            (Route::Messages, &Method::POST) => http_sse::receive(&self, &parts, body).await,
            (Route::Messages, _) => {
                reply::not_allowed("POST", "send messages to this path with POST")
            }
            (Route::Card, &Method::GET | &Method::HEAD) => server_card::card(&self, &parts),
            (Route::Catalog, &Method::GET | &Method::HEAD) => server_card::catalog(&self, &parts),
            (Route::Card | Route::Catalog, _) => {
                reply::not_allowed("GET", "read the server card with GET")
            }
            (Route::Health | Route::Nowhere, _) => self.nowhere(),
        }
    }

    fn nowhere(&self) -> Response<HttpBody> {
        let mount = self.mount.as_ref().map(|mount| mount.url.as_str());
        let endpoint = match mount.or(self.endpoint.as_deref()) {
            None | Some("") => "/",
            Some(endpoint) => endpoint,
        };
        let message = format!("nothing is served at this path: the MCP endpoint is `{endpoint}`");
        reply::refuse(StatusCode::NOT_FOUND, &message)
    }
}
