//! The identity in a verified token.

use serde_json::{Map, Value};
use turnbuckle_server::{Call, Caller, Extract, Failure, Reject};

/// The identity in a verified token: who calls, and with which scopes and claims.
///
/// Handlers get it from [`Caller::get`](turnbuckle_server::Caller::get), or as an extractor. As an
/// extractor it fails for callers without a token, such as those over stdio; use `Caller::get`
/// where a handler serves both.
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
    /// What stores are keyed by. An issuer is a URL and has no blank in it, so no two pairs of
    /// issuer and subject read alike, and no program reads like a user.
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

    /// The user or program that the token was issued for (`sub`). It is unique within the issuer
    /// only; use [`key`](Self::key) to tell callers of several issuers apart.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// The OAuth client that uses the token, if the token names it. It is the application, not the
    /// user.
    pub fn client_id(&self) -> Option<&str> {
        self.client_id.as_deref()
    }

    /// The granted scopes, as the issuer wrote them. Scopes that they imply are not included;
    /// [`Caller::scopes`](turnbuckle_server::Caller::scopes) has those too.
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// A claim of the token, such as `email` or `groups`; `None` if the token does not have it.
    /// Which claims there are depends on the issuer.
    pub fn claim(&self, name: &str) -> Option<&Value> {
        self.claims.get(name)
    }

    /// All claims of the token, or of the issuer's answer about it. The token itself is not
    /// available.
    pub fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }

    /// The identity to which sessions, sealed states and tasks are bound: the issuer and the
    /// subject. A user is the same caller with every client and token.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The caller of handlers.
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
