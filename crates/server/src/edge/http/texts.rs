//! Texts beside the endpoint: health, counters, a page that says that a sign-in is done.

use std::{fmt, sync::Arc};

use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Uri, header};

use super::body::HttpBody;

/// A text that is answered beside the endpoint, such as a status page. It is sent with
/// `cache-control: no-store`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpText {
    status: StatusCode,
    kind: &'static str,
    text: String,
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl HttpText {
    /// A text with this status and media type.
    pub fn new(status: StatusCode, kind: &'static str, text: impl Into<String>) -> Self {
        Self {
            status,
            kind,
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
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text
    }
}

type Find = dyn Fn(&Method, &Uri, &HeaderMap) -> Option<HttpText> + Send + Sync;

/// Finds the text for a request; `None` leaves the request to the server. Set it with
/// [`HttpSettings::texts`](crate::HttpSettings::texts).
#[derive(Clone)]
pub struct HttpTexts(Arc<Find>);

impl HttpTexts {
    /// Asks this function for the text of a `GET`. It runs for every `GET`, so it must be quick and
    /// must not block.
    pub fn new(find: impl Fn(&Uri) -> Option<HttpText> + Send + Sync + 'static) -> Self {
        Self::of_requests(move |method, uri, _| {
            let is_get = method == Method::GET;
            is_get.then(|| find(uri)).flatten()
        })
    }

    /// Asks this function for the text of any request, for forms and cookies. Bodies are not read.
    pub fn of_requests(
        find: impl Fn(&Method, &Uri, &HeaderMap) -> Option<HttpText> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(find))
    }

    /// The text for a `GET` of a URI.
    pub fn find(&self, uri: &Uri) -> Option<HttpText> {
        self.answer(&Method::GET, uri, &HeaderMap::new())
    }

    /// The text for a request.
    pub fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<HttpText> {
        (self.0)(method, uri, headers)
    }
}

impl fmt::Debug for HttpTexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HttpTexts")
    }
}

/// The response with a text, which is not to be kept.
pub(super) fn response(text: HttpText) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::full(text.text.into_bytes()));
    *response.status_mut() = text.status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(text.kind));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.extend(text.headers);
    response
}
