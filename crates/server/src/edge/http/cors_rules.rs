//! The settings for cross-origin requests of browsers (CORS).

use std::time::Duration;

use http::{HeaderName, HeaderValue, Method};

/// The methods of the endpoint.
const METHODS: &str = "POST, GET, DELETE, OPTIONS";

/// The headers that a page may send.
const REQUEST_HEADERS: &str = "authorization, content-type, accept, dpop, last-event-id, mcp-method, \
     mcp-name, mcp-protocol-version, mcp-session-id, traceparent, tracestate, baggage";

/// The headers that a page may read.
const RESPONSE_HEADERS: &str = "mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce";

/// How long a browser may cache a permission. Browsers limit it to a few hours. Ten minutes avoid
/// nearly every preflight request, and a change of settings takes effect soon.
const MAX_AGE: Duration = Duration::from_mins(10);

/// The methods, headers and credentials that pages of the allowed origins may use (CORS).
///
/// The methods and headers of the protocol are always allowed; these rules add to them. They are the
/// same for all requests. Pass them to [`HttpSettings::cors_with`](crate::HttpSettings::cors_with).
///
/// ```
/// use http::HeaderName;
/// use turnbuckle_server::{CorsRules, HttpSettings};
///
/// let rules = CorsRules::new()
///     .allow_credentials()
///     .allow_header(HeaderName::from_static("x-tenant"))
///     .expose_header(HeaderName::from_static("x-request-id"));
/// let settings = HttpSettings::default()
///     .allow_origin("https://app.example.com")
///     .cors_with(rules);
/// ```
#[derive(Clone, Debug)]
pub struct CorsRules {
    pub(super) credentials: bool,
    pub(super) methods: String,
    pub(super) headers: String,
    pub(super) exposed: HeaderValue,
    pub(super) max_age: HeaderValue,
}

impl Default for CorsRules {
    fn default() -> Self {
        Self::new()
    }
}

impl CorsRules {
    /// Creates rules with the methods and headers that the protocol needs, without credentials.
    /// Browsers cache them for ten minutes.
    pub fn new() -> Self {
        Self {
            credentials: false,
            methods: METHODS.to_owned(),
            headers: REQUEST_HEADERS.to_owned(),
            exposed: HeaderValue::from_static(RESPONSE_HEADERS),
            max_age: HeaderValue::from(MAX_AGE.as_secs()),
        }
    }

    /// Lets pages send cookies and other credentials that the browser stores. Add the origins with
    /// [`allow_origin`](crate::HttpSettings::allow_origin). If any origin is allowed, this has no
    /// effect, because every page that the user opens could then act for the user.
    pub fn allow_credentials(mut self) -> Self {
        self.credentials = true;
        self
    }

    /// Lets pages use another method, for requests that your own layer answers.
    pub fn allow_method(mut self, method: &Method) -> Self {
        self.methods.push_str(", ");
        self.methods.push_str(method.as_str());
        self
    }

    /// Lets pages send another header, such as `x-tenant`. The headers of the protocol are already
    /// allowed.
    #[expect(clippy::needless_pass_by_value, reason = "names are written in place")]
    pub fn allow_header(mut self, name: HeaderName) -> Self {
        self.headers.push_str(", ");
        self.headers.push_str(name.as_str());
        self
    }

    /// Lets pages read another header of answers, such as `x-request-id`.
    #[expect(clippy::needless_pass_by_value, reason = "names are written in place")]
    pub fn expose_header(mut self, name: HeaderName) -> Self {
        let exposed = self.exposed.to_str().unwrap_or(RESPONSE_HEADERS);
        let exposed = format!("{exposed}, {name}");
        if let Ok(exposed) = HeaderValue::from_str(&exposed) {
            self.exposed = exposed;
        }
        self
    }

    /// Sets how long a browser may cache the answer to a preflight request
    /// (`Access-Control-Max-Age`). Defaults to ten minutes.
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age = HeaderValue::from(age.as_secs());
        self
    }
}
