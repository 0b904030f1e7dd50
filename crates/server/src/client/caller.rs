//! The caller: the identity behind a request.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

#[cfg(feature = "http")]
use super::HttpRequest;

/// The identity of the caller of a request.
///
/// On stdio and in memory it is [`Caller::local`]: the user who started the process. Over HTTP it
/// is set by the guard, or by the code around the server. It never comes from what a client says
/// about itself, so use it for permissions and visibility.
///
/// ```
/// use turnbuckle_server::Caller;
///
/// struct Tenant(&'static str);
///
/// let caller = Caller::new("ada").with_scopes(["notes:read"]).with(Tenant("acme"));
/// assert!(caller.has_scope("notes:read"));
/// assert_eq!(caller.get::<Tenant>().map(|tenant| tenant.0), Some("acme"));
/// ```
#[derive(Clone, Default)]
pub struct Caller {
    id: Option<Arc<str>>,
    scopes: Arc<[String]>,
    attributes: Arc<HashMap<TypeId, Box<dyn Any + Send + Sync>>>,
    /// The parts of the HTTP request, if a handler needs them.
    #[cfg(feature = "http")]
    request: Option<Arc<HttpRequest>>,
}

impl Caller {
    /// Returns the user who started the process, which is the caller on stdio and in memory. It has
    /// no id and every scope.
    pub fn local() -> Self {
        Self::default()
    }

    /// Creates a caller with this id, for example the subject of a verified token. Sessions, tasks
    /// and limits belong to the id, so it must be unique and always be the same for one caller.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self {
            id: Some(id.into()),
            ..Self::default()
        }
    }

    /// Sets the scopes of the caller, as granted in its token. Tools with
    /// [`scopes`](crate::Tool::scopes) require them.
    pub fn with_scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Adds an attribute, which is found by its type: roles, a tenant, claims. Handlers read it
    /// with [`get`](Self::get).
    pub fn with<T: Any + Send + Sync>(mut self, attribute: T) -> Self {
        // A caller is set up before it is shared, so this is the only reference.
        if let Some(attributes) = Arc::get_mut(&mut self.attributes) {
            attributes.insert(TypeId::of::<T>(), Box::new(attribute));
        }
        self
    }

    /// Returns the id, as the guard set it; `None` for [`Caller::local`].
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Whether the caller is distinguished from other callers. `true` for a caller with an id, and
    /// for [`Caller::local`]. `false` for the callers of an HTTP endpoint without a guard.
    pub fn is_identified(&self) -> bool {
        self.id().is_some() || self.get::<Unauthenticated>().is_none()
    }

    /// Returns the scopes of the caller. Empty for [`Caller::local`], which may do everything.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// Whether the caller has this scope. Always `true` for [`Caller::local`].
    pub fn has_scope(&self, scope: &str) -> bool {
        self.id.is_none() || self.scopes.iter().any(|granted| granted == scope)
    }

    /// Whether the caller has all of these scopes.
    pub(crate) fn has_scopes(&self, scopes: &[String]) -> bool {
        scopes.iter().all(|scope| self.has_scope(scope))
    }

    /// Adds the parts of the HTTP request.
    #[cfg(feature = "http")]
    pub(crate) fn with_http_request(mut self, request: HttpRequest) -> Self {
        self.request = Some(Arc::new(request));
        self
    }

    /// The parts of the HTTP request, if they were kept.
    #[cfg(feature = "http")]
    pub(crate) fn http_request(&self) -> Option<&HttpRequest> {
        self.request.as_deref()
    }

    /// Returns the attribute of this type that was added with [`with`](Self::with), or `None`.
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.attributes.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// Marks callers of an endpoint without authentication.
pub(crate) struct Unauthenticated;

/// Marks callers whose request another replica received and passed on.
#[cfg(feature = "http")]
pub(crate) struct AtAnotherReplica;
