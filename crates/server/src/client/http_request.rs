//! The parts of an HTTP request, for handlers that need them.

use http::{Extensions, HeaderMap, request::Parts};

/// The parts of an HTTP request that handlers can extract.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest {
    pub(crate) headers: HeaderMap,
    pub(crate) extensions: Extensions,
}

impl HttpRequest {
    pub(crate) fn of(parts: &Parts) -> Self {
        Self {
            headers: parts.headers.clone(),
            extensions: parts.extensions.clone(),
        }
    }
}
