//! An address for operators with health, readiness and counters only.

use std::{convert::Infallible, future::Ready, future::ready, task};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use tower_service::Service;
use turnbuckle::{
    ExtraRoutes, TextResponse,
    transport::http::{Settings, serve},
};
use turnbuckle_base::loopback::is_loopback;
use turnbuckle_command_line::{control::tell, failure::Outcome};

use crate::listen;

/// How many connections it accepts: enough for a scraper, a probe, and a person.
const MAX_CONNECTIONS: usize = 64;

/// The routes at this address.
#[derive(Clone)]
struct Admin {
    routes: ExtraRoutes,
    /// On loopback, requests with another host name are refused: a web page may have redirected the browser here.
    is_loopback: bool,
}

/// Opens the address for operators. It is served for as long as the future is polled.
pub(super) async fn open(
    address: &str,
    routes: ExtraRoutes,
) -> Outcome<impl Future<Output = ()> + use<>> {
    let listener = listen::bind(address).await?;
    let local = listener.local_address();
    if let Some(local) = local {
        tell(&format!(
            "http://{local}/metrics  and /readyz, /healthz, for operators"
        ));
    }
    let admin = Admin {
        routes,
        is_loopback: local.is_some_and(|local| local.ip().to_canonical().is_loopback()),
    };
    let settings = Settings::default().with_max_connections(MAX_CONNECTIONS);
    Ok(async move {
        // Requests are answered immediately, so no request is cut off at the end.
        let _ = serve(listener, admin, settings, std::future::pending()).await;
    })
}

impl Service<Request<Incoming>> for Admin {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> task::Poll<Result<(), Infallible>> {
        task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        ready(Ok(answer(self.text(&request))))
    }
}

impl Admin {
    fn text(&self, request: &Request<Incoming>) -> TextResponse {
        let plain = |status, text: &str| TextResponse::new(status, "text/plain", text);
        let host = request.headers().get(header::HOST);
        let host = host.and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        if self.is_loopback && !is_loopback(name) {
            return plain(
                StatusCode::FORBIDDEN,
                "the Host header must be 127.0.0.1 or localhost",
            );
        }
        if request.method() != Method::GET {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "send GET");
        }
        self.routes.find(request.uri()).unwrap_or_else(|| {
            plain(
                StatusCode::NOT_FOUND,
                "not found; the paths are /metrics, /readyz and /healthz",
            )
        })
    }
}

fn answer(text: TextResponse) -> Response<Full<Bytes>> {
    let (status, kind) = (text.status(), text.media_type());
    let mut response = Response::new(Full::new(Bytes::from(text.into_text())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
