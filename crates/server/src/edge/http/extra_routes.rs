//! Routes beside the endpoint: health, counters, a page that says that a sign-in is done.

use std::{fmt, sync::Arc};

use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri, header};

use super::body::HttpBody;

/// The text that [`ExtraRoutes`] send for a request, such as a status page. It is sent with
/// `cache-control: no-store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextResponse {
    status: StatusCode,
    media_type: &'static str,
    text: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl TextResponse {
    /// A response with this status, media type and text.
    pub fn new(status: StatusCode, media_type: &'static str, text: impl Into<String>) -> Self {
        Self {
            status,
            media_type,
            text: text.into(),
            headers: Vec::new(),
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// The headers that were added.
    pub fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// The status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The media type.
    pub fn media_type(&self) -> &'static str {
        self.media_type
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text
    }
}

type Find = dyn Fn(&Method, &Uri, &HeaderMap) -> Option<TextResponse> + Send + Sync;

/// Answers requests for paths beside the endpoint; `None` leaves a request to the server. Set it
/// with [`HttpSettings::extra_routes`](crate::HttpSettings::extra_routes).
#[derive(Clone)]
pub struct ExtraRoutes(Arc<Find>);

impl ExtraRoutes {
    /// Asks this function for the response to a `GET`. It runs for every `GET`, so it must be quick and
    /// must not block.
    pub fn new(find: impl Fn(&Uri) -> Option<TextResponse> + Send + Sync + 'static) -> Self {
        Self::of_requests(move |method, uri, _| {
            let is_get = method == Method::GET;
            is_get.then(|| find(uri)).flatten()
        })
    }

    /// Asks this function for the response to any request, for forms and cookies. Bodies are not read.
    pub fn of_requests(
        find: impl Fn(&Method, &Uri, &HeaderMap) -> Option<TextResponse> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(find))
    }

    /// The response to a `GET` of a URI.
    pub fn find(&self, uri: &Uri) -> Option<TextResponse> {
        self.answer(&Method::GET, uri, &HeaderMap::new())
    }

    /// The response to a request.
    pub fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<TextResponse> {
        (self.0)(method, uri, headers)
    }
}

impl fmt::Debug for ExtraRoutes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ExtraRoutes")
    }
}

/// The HTTP response, which is not to be kept.
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
