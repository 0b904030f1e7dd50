//! The guard of a protected server, which identifies the caller.

use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{HeaderName, HeaderValue, StatusCode, request::Parts};

use crate::Caller;

/// Guards an HTTP server: identifies the caller of each request, or refuses it.
///
/// The server calls it for every request to the endpoint, also for requests of a session: a session
/// id alone grants nothing. `turnbuckle_auth::server::Guard` implements it for OAuth, and
/// [`Bearer`](crate::Bearer) for tokens that a function checks.
///
/// An async function from the head of a request to its caller implements it too. The function must
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
/// What is known without waiting, and what adds headers to answers, implements the trait:
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
    /// Identifies the caller of this request, or refuses it. The body has not been read yet. It
    /// must not block.
    fn admit(&self, request: &Parts) -> AuthDecision;

    /// A public JSON document at this path, such as metadata under `/.well-known/`; `None` for
    /// other paths. Defaults to no documents.
    fn document(&self, path: &str) -> Option<Bytes> {
        let _ = path;
        None
    }

    /// Hosts that the server is known by, besides loopback. They are accepted as with
    /// [`HttpSettings::allow_host`](crate::HttpSettings::allow_host).
    fn hosts(&self) -> Vec<String> {
        Vec::new()
    }

    /// The refusal of a call that needs these scopes, of which the caller lacks some. Defaults to
    /// 403 with a message that names them.
    fn lacking(&self, scopes: &[String]) -> HttpRefusal {
        let message = format!("this call needs the scopes `{}`", scopes.join(" "));
        HttpRefusal::new(StatusCode::FORBIDDEN, message)
    }
}

/// An async function of the request's head that says who calls.
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

/// Whether a request is admitted. [`Protect::admit`] returns it: as a result, or as a future if
/// another service has to be asked.
pub enum AuthDecision {
    /// The decision is known at once.
    Now(Result<Authorized, HttpRefusal>),
    /// Another service has to be asked. The future must have a deadline of its own.
    Later(BoxFuture<'static, Result<Authorized, HttpRefusal>>),
}

/// A request that is let in, with its caller and headers for its answer.
#[derive(Clone, Debug)]
pub struct Authorized {
    pub(super) caller: Caller,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Authorized {
    /// The request comes from this caller.
    pub fn new(caller: Caller) -> Self {
        let headers = Vec::new();
        Self { caller, headers }
    }

    /// Adds a header to the answer, whatever it will be.
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }
}

/// A request that is refused: its status, headers and a message. The client gets it as the HTTP
/// answer.
#[derive(Clone, Debug)]
pub struct HttpRefusal {
    pub(super) status: StatusCode,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) message: String,
}

impl HttpRefusal {
    /// A refusal with this status: 401 for a caller that is not known, 403 for one that lacks
    /// permission, 503 if that cannot be told now. The client reads the message.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            message: message.into(),
        }
    }

    /// Adds a header, such as a challenge.
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Its status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Its headers.
    pub fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }

    /// The message in the body of the answer, which the client reads.
    pub fn message(&self) -> &str {
        &self.message
    }
}
