//! The HTTP parts of a request, for handlers that use them.

use http::{Extensions, HeaderMap, request::Parts};

/// The parts of an HTTP request that handlers may ask for.
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
