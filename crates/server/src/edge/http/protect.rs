//! The guard of a protected server, which identifies callers.

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{HeaderName, HeaderValue, StatusCode, request::Parts};

use crate::Caller;

/// A guard of an HTTP server: it identifies the caller of each request, or refuses the request.
///
/// The server calls it for every request to the endpoint, including requests of a session: a
/// session id alone grants nothing. `turnbuckle_auth::server::Guard` implements it for OAuth, and
/// [`Bearer`](crate::Bearer) for tokens that your function checks.
///
/// An async function from the head of a request to its caller implements it, too. The function must
/// end in bounded time, because the server sets no deadline for it.
///
/// ```
/// use http::{StatusCode, request::Parts};
/// use turnbuckle_server::{Caller, Http, HttpRefusal};
///
/// async fn known(request: Parts) -> Result<Caller, HttpRefusal> {
///     match request.headers.get("x-user").and_then(|user| user.to_str().ok()) {
///         Some(user) => Ok(Caller::new(user)),
///         None => Err(HttpRefusal::new(StatusCode::UNAUTHORIZED, "say who you are in `X-User`")),
///     }
/// }
///
/// let http = Http::bind("127.0.0.1:8080").protect(known);
/// ```
///
/// Implement the trait yourself if the caller is known without waiting, or to add headers to
/// answers:
///
/// ```
/// use http::{StatusCode, request::Parts};
/// use turnbuckle_server::{AuthDecision, Authorized, Caller, Protect, HttpRefusal};
///
/// struct Key(&'static str);
///
/// impl Protect for Key {
///     fn admit(&self, request: &Parts) -> AuthDecision {
///         let given = request.headers.get("x-api-key");
///         AuthDecision::Now(match given {
///             Some(given) if given == self.0 => Ok(Authorized::new(Caller::new("the-one"))),
///             _ => Err(HttpRefusal::new(StatusCode::UNAUTHORIZED, "send your key in `X-Api-Key`")),
///         })
///     }
/// }
/// ```
pub trait Protect: Send + Sync + 'static {
    /// Identifies the caller of this request, or refuses the request. The body has not been read
    /// yet. This must not block; return [`AuthDecision::Later`] if another service has to be asked.
    fn admit(&self, request: &Parts) -> AuthDecision;

    /// Returns the public JSON document at this path, such as metadata under `/.well-known/`.
    /// Returns `None` for other paths. By default there are no documents.
    fn document(&self, path: &str) -> Option<Bytes> {
        let _ = path;
        None
    }

    /// Returns the public names of the server. They are accepted as hosts in addition to loopback,
    /// as with [`HttpSettings::allow_host`](crate::HttpSettings::allow_host). By default there are
    /// none.
    fn hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the refusal of a call that needs these scopes, of which the caller lacks some. By
    /// default it is 403 with a message that names the scopes.
    fn lacking(&self, scopes: &[String]) -> HttpRefusal {
        let message = format!("this call needs the scopes `{}`", scopes.join(" "));
        HttpRefusal::new(StatusCode::FORBIDDEN, message)
    }
}

/// An async function from the head of a request to its caller.
impl<F, Fut> Protect for F
where
    F: Fn(Parts) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Caller, HttpRefusal>> + Send + 'static,
{
    fn admit(&self, request: &Parts) -> AuthDecision {
        let checking = self(request.clone());
        AuthDecision::Later(Box::pin(async move { checking.await.map(Authorized::new) }))
    }
}

impl<P: Protect + ?Sized> Protect for std::sync::Arc<P> {
    fn admit(&self, request: &Parts) -> AuthDecision {
        (**self).admit(request)
    }

    fn document(&self, path: &str) -> Option<Bytes> {
        (**self).document(path)
    }

    fn hosts(&self) -> Vec<String> {
        (**self).hosts()
    }

    fn lacking(&self, scopes: &[String]) -> HttpRefusal {
        (**self).lacking(scopes)
    }
}

/// The decision about a request, from [`Protect::admit`]: a result, or a future if another service
/// has to be asked.
pub enum AuthDecision {
    /// The decision is known at once.
    Now(Result<Authorized, HttpRefusal>),
    /// Another service has to be asked. The future must have its own deadline.
    Later(BoxFuture<'static, Result<Authorized, HttpRefusal>>),
}

/// An admitted request: its caller, and headers for its answer.
#[derive(Clone, Debug)]
pub struct Authorized {
    pub(super) caller: Caller,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Authorized {
    /// Admits the request for this caller.
    pub fn new(caller: Caller) -> Self {
        let headers = Vec::new();
        Self { caller, headers }
    }

    /// Adds a header to the answer, also if the answer is an error.
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// A refused request: a status, headers and a message, which the client gets as the HTTP response.
#[derive(Clone, Debug)]
pub struct HttpRefusal {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) message: String,
}

impl HttpRefusal {
    /// Creates a refusal with this status: 401 for an unknown caller, 403 for a caller that lacks
    /// permission, 503 if the caller cannot be checked at the moment. The client reads the message.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            message: message.into(),
        }
    }

    /// Adds a header to the response, such as a challenge.
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the headers that were added.
    pub fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// Returns the message in the body of the response, which the client reads.
    pub fn message(&self) -> &str {
        &self.message
    }
}
