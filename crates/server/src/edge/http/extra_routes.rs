//! Routes beside the endpoint: health, metrics, a page for the end of a sign-in.

use std::{fmt, sync::Arc};

use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri, header};

use super::body::HttpBody;

/// A text response of [`ExtraRoutes`], such as a status page. It is sent with `cache-control:
/// no-store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextResponse {
    status: StatusCode,
    media_type: &'static str,
    text: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl TextResponse {
    /// Creates a response with this status, media type and text.
    pub fn new(status: StatusCode, media_type: &'static str, text: impl Into<String>) -> Self {
        Self {
            status,
            media_type,
            text: text.into(),
            headers: Vec::new(),
        }
    }

    /// Adds a header to the response.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Returns the headers that were added.
    pub fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the media type of the text.
    pub fn media_type(&self) -> &'static str {
        self.media_type
    }

    /// Returns the text of the response.
    pub fn into_text(self) -> String {
        self.text
    }
}

type Find = dyn Fn(&Method, &Uri, &HeaderMap) -> Option<TextResponse> + Send + Sync;

/// Routes beside the MCP endpoint, which your own code answers. Set them with
/// [`HttpSettings::extra_routes`](crate::HttpSettings::extra_routes).
#[derive(Clone)]
pub struct ExtraRoutes(Arc<Find>);

impl ExtraRoutes {
    /// Answers `GET` requests with this function, which returns `None` for paths that the server
    /// should handle. It runs for every `GET`, so it must be quick and must not block.
    pub fn new(find: impl Fn(&Uri) -> Option<TextResponse> + Send + Sync + 'static) -> Self {
        Self::of_requests(move |method, uri, _| {
            let is_get = method == Method::GET;
            is_get.then(|| find(uri)).flatten()
        })
    }

    /// Answers requests of all methods with this function, for forms and cookies. It returns `None`
    /// for requests that the server should handle. Request bodies are not read. It must be quick
    /// and must not block.
    pub fn of_requests(
        find: impl Fn(&Method, &Uri, &HeaderMap) -> Option<TextResponse> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(find))
    }

    /// Returns the response to a `GET` of this URI; `None` if the server should handle it.
    pub fn find(&self, uri: &Uri) -> Option<TextResponse> {
        self.answer(&Method::GET, uri, &HeaderMap::new())
    }

    /// Returns the response to a request; `None` if the server should handle it.
    pub fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<TextResponse> {
        (self.0)(method, uri, headers)
    }
}

impl fmt::Debug for ExtraRoutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExtraRoutes")
    }
}

/// Makes the HTTP response, which must not be cached.
pub(super) fn response(text: TextResponse) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::full(text.text.into_bytes()));
    *response.status_mut() = text.status;
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static(text.media_type),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.extend(text.headers);
    response
}
