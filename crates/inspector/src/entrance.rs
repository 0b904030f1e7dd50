//! The HTTP service at a port of the inspector.

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc, task};

use http::{Method, Request};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tower_service::Service;
use turnbuckle::{ExtraRoutes, HttpService};

use super::{
    answer::{self, Answer},
    app_site,
    door::Door,
    page, route,
};

/// The path of the server's endpoint.
pub(super) const ENDPOINT: &str = "/mcp";

/// The service at a port.
#[derive(Clone)]
pub(super) enum Entrance {
    /// Only the page.
    Page(Arc<Door>),
    /// The page, a server at its endpoint, and further routes.
    Beside(Arc<Door>, HttpService, Option<ExtraRoutes>),
    /// The pages of tools.
    Apps(Arc<Door>),
}

impl Service<Request<Incoming>> for Entrance {
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> task::Poll<Result<(), Infallible>> {
        task::Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Incoming>) -> Self::Future {
        if let Self::Beside(door, _, Some(more)) = self
            // Checked before the routes are asked, because an answer may have side effects.
            && door.guard.check(request.headers()).is_ok()
            && let Some(text) =
                more.answer(request.method(), request.uri(), request.headers())
        {
            let answer = answer::text(text);
            return Box::pin(std::future::ready(Ok(answer)));
        }
        match self {
            Self::Beside(_, server, _) if is_of_server(request.method(), request.uri().path()) => {
                let answering = server.call(request);
                Box::pin(async move { Ok(answering.await?.map(BodyExt::boxed_unsync)) })
            }
            Self::Page(door) | Self::Beside(door, _, _) => {
                let door = door.clone();
                Box::pin(async move { Ok(route::answer(&door, request).await) })
            }
            Self::Apps(door) => {
                let (method, path) = (request.method(), request.uri().path());
                let origins = (&*door.sandbox, &*door.origin);
                let headers = request.headers();
                let answer = app_site::serve(&door.inspector, method, path, headers, origins);
                Box::pin(std::future::ready(Ok(answer)))
            }
        }
    }
}

/// Whether a request is for the server. Requests for unknown paths are, because the server says
/// where its endpoint is, in a form that MCP clients show.
fn is_of_server(method: &Method, path: &str) -> bool {
    let is_of_page = path.starts_with("/api/")
        || (matches!(*method, Method::GET | Method::HEAD) && page::has(path));
    !is_of_page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_the_server_have_their_paths() {
        for path in ["/", "/foo", "/index.html", "/mcp/x"] {
            assert!(is_of_server(&Method::POST, path), "{path}");
        }
        for path in [
            "/mcp",
            "/mcp/",
            "/sse",
            "/mcp/sse",
            "/messages",
            "/mcp/server-card",
            "/healthz",
            "/.well-known/ai-catalog.json",
            "/.well-known/oauth-protected-resource/mcp",
            "/mcpx",
            "/foo",
            "",
        ] {
            assert!(is_of_server(&Method::GET, path), "{path}");
        }
        for path in ["/", "/index.html", "/api/state"] {
            assert!(!is_of_server(&Method::GET, path), "{path}");
        }
        assert!(!is_of_server(&Method::POST, "/api/servers"));
    }
}
