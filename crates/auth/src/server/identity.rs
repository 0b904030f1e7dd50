//! The identity in a verified token.

use serde_json::{Map, Value};
use turnbuckle_server::{Call, Caller, Extract, Failure, Reject};

/// The identity in a verified token: the caller, the scopes and the claims.
///
/// Handlers get it from [`Caller::get`](turnbuckle_server::Caller::get), or as an extractor. The
/// extractor fails for callers without a token, such as those over stdio; use `Caller::get` in a
/// handler that serves both.
///
/// ```
/// use turnbuckle_auth::server::Identity;
/// use turnbuckle_server::{Caller, Tool};
///
/// async fn whoami(caller: Caller) -> String {
///     match caller.get::<Identity>() {
///         Some(identity) => format!("{} of {}", identity.subject(), identity.issuer()),
///         None => "the local user".to_owned(),
///     }
/// }
///
/// let tool = Tool::new("whoami", whoami);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The key for stores. An issuer is a URL and contains no blank, so no two pairs of issuer and
    /// subject give the same key, and no program has the key of a user.
    pub(super) key: String,
    pub(super) issuer: String,
    pub(super) subject: String,
    pub(super) client_id: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) claims: Map<String, Value>,
}

impl Identity {
    /// The issuer of the token (`iss`), as a URL.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The user or program that the token was issued for (`sub`). It is unique only within the
    /// issuer; use [`key`](Self::key) to distinguish callers of several issuers.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The OAuth client that uses the token, if the token names it. This is the application, not the user.
    pub fn client_id(&self) -> Option<&str> {
        self.client_id.as_deref()
    }

    /// The granted scopes, as the issuer wrote them. Implied scopes are not included;
    /// [`Caller::scopes`](turnbuckle_server::Caller::scopes) includes them.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// A claim of the token, such as `email` or `groups`; `None` if the token does not have it. The
    /// available claims depend on the issuer.
    pub fn claim(&self, name: &str) -> Option<&Value> {
        self.claims.get(name)
    }

    /// All claims of the token, or of the issuer's introspection response. The token itself is not
    /// available.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }

    /// The key of the identity: the issuer and the subject. Sessions, sealed states and tasks are
    /// bound to it. A user has the same key with every client and token.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Converts the identity into the caller that handlers get.
    pub(super) fn into_caller(self, scopes: Vec<String>) -> Caller {
        Caller::new(self.key.as_str())
            .with_scopes(scopes)
            .with(self)
    }
}

impl Extract for Identity {
    fn extract(call: &Call<'_>) -> Result<Self, Failure> {
        let identity = call.caller().get::<Self>().cloned();
        identity.ok_or_else(|| {
            let message = "this needs a caller with a verified token: use the server over HTTP, \
                           behind its guard";
            Reject::invalid_request(message).into()
        })
    }
}
