//! Finds the route for the path of a request.

/// A route of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// The endpoint of all revisions since 2025-03-26.
    Endpoint,
    /// The stream of 2024-11-05.
    Sse,
    /// The endpoint to which clients of 2024-11-05 post.
    Messages,
    /// The server card.
    Card,
    /// The AI catalog, which contains the URL of the card.
    Catalog,
    /// The health check.
    Health,
    /// An unknown path.
    Nowhere,
}

/// Normalizes the path of the endpoint for the functions below: empty for the root, without a slash
/// at its end.
pub(super) fn endpoint(path: &str) -> String {
    match path.trim_matches('/') {
        "" => String::new(),
        path => format!("/{path}"),
    }
}

/// Finds the route for a service that serves a whole site. `endpoint` is the path of the endpoint,
/// without a slash at its end.
pub(super) fn of_site(path: &str, endpoint: &str) -> Route {
    match path {
        "/.well-known/ai-catalog.json" => Route::Catalog,
        path => of(path, Some(endpoint)),
    }
}

/// Finds the route. `endpoint` is the path of the endpoint, without a slash at its end. A service
/// that is nested in a router without knowing its path has no `endpoint`; for it, every path that
/// is not another route is the endpoint.
pub(super) fn of(path: &str, endpoint: Option<&str>) -> Route {
    let path = path.trim_end_matches('/');
    let inside = match endpoint {
        Some(endpoint) if path == endpoint => return Route::Endpoint,
        Some(endpoint) => path.strip_prefix(endpoint).unwrap_or(path),
        None => path,
    };
    match inside {
        "/sse" => Route::Sse,
        "/messages" => Route::Messages,
        "/server-card" => Route::Card,
        "/healthz" => Route::Health,
        _ if endpoint.is_none() => Route::Endpoint,
        _ => Route::Nowhere,
    }
}

/// Finds the route for a service that knows where it is mounted. Some routers strip that path and
/// others keep it, so both are accepted. Below it, only the server's own routes exist.
pub(super) fn of_mounted(path: &str, mount: &str) -> Route {
    let path = path.trim_end_matches('/');
    let inside = match path.strip_prefix(mount) {
        Some(inside) if inside.is_empty() || inside.starts_with('/') => inside,
        _ => path,
    };
    of(inside, Some(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_its_place() {
        let table = [
            ("/mcp", Route::Endpoint),
            ("/mcp/", Route::Endpoint),
            ("/sse", Route::Sse),
            ("/mcp/sse", Route::Sse),
            ("/messages", Route::Messages),
            ("/mcp/server-card", Route::Card),
            ("/healthz", Route::Health),
            ("/.well-known/ai-catalog.json", Route::Catalog),
            ("/", Route::Nowhere),
            ("/mcpx", Route::Nowhere),
            ("/other", Route::Nowhere),
        ];
        for (path, route) in table {
            assert_eq!(of_site(path, "/mcp"), route, "{path}");
        }
        for (path, route) in [
            ("/", Route::Endpoint),
            ("/sse", Route::Sse),
            ("/x", Route::Nowhere),
        ] {
            assert_eq!(of_site(path, ""), route, "{path} at the root");
        }
        for (path, route) in [
            ("/", Route::Endpoint),
            ("/sse", Route::Sse),
            ("/x", Route::Endpoint),
        ] {
            assert_eq!(of(path, None), route, "{path}");
        }
    }

    #[test]
    fn a_mounted_service_has_nothing_below_its_own_places() {
        for (path, route) in [
            ("/", Route::Endpoint),
            ("/api/mcp", Route::Endpoint),
            ("/api/mcp/", Route::Endpoint),
            ("/sse", Route::Sse),
            ("/api/mcp/sse", Route::Sse),
            ("/server-card", Route::Card),
            ("/api/mcp/server-card", Route::Card),
            ("/api/mcp/x", Route::Nowhere),
            ("/api/mcpx", Route::Nowhere),
            ("/x", Route::Nowhere),
            ("/.well-known/ai-catalog.json", Route::Nowhere),
        ] {
            assert_eq!(of_mounted(path, "/api/mcp"), route, "{path}");
        }
    }
}
