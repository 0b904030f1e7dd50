//! The issuers of tokens, and how their tokens are verified.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::Value;

use turnbuckle_transport::http::client::{Address, AgentSettings};

use super::{
    claims::{Expiry, Rules, Verified},
    fetch::{IssuerFetcher, Plain},
    guard_error::GuardError,
    introspection::Introspection,
    keys::{Keys, Place},
    resource::Resource,
    verify::{Claims, Verify, VerifyError},
};
use crate::jose::{Algorithm, JwkSet, Jws};

/// How long a verified signature is trusted before it is verified again.
const SIGNED_FOR: Duration = Duration::from_mins(5);

/// How long an introspection response is cached. A revoked token stays valid for at most this long.
const TOLD_FOR: Duration = Duration::from_secs(30);

/// How long a custom verifier may take.
const OWN_DEADLINE: Duration = Duration::from_secs(30);

/// An issuer of tokens: an authorization server or identity provider. Give it to
/// [`Guard::issuer`](super::Guard::issuer); a URL alone is enough if no setting is needed.
///
/// By default its tokens are JWTs, verified with keys that are found through its metadata. Keys are
/// fetched when they are first needed, again after ten minutes, and when a token names an unknown
/// key.
///
/// ```
/// use turnbuckle_auth::server::Issuer;
///
/// let keycloak = Issuer::new("https://login.example.com/realms/main");
/// let opaque = Issuer::new("https://login.example.com").introspect("notes", "the secret");
/// let auth0 = Issuer::new("https://tenant.eu.auth0.com/").scope_claim("permissions");
/// ```
///
/// | its tokens are | use |
/// |---|---|
/// | JWTs, with metadata | nothing more |
/// | JWTs, with keys elsewhere | [`keys_at`](Self::keys_at), [`keys`](Self::keys) |
/// | opaque, or to be revoked soon | [`introspect`](Self::introspect) |
/// | your own | [`verify`](Self::verify) |
#[must_use = "give it to a guard"]
pub struct Issuer {
    url: String,
    audiences: Vec<String>,
    algorithms: Vec<Algorithm>,
    scope_claims: Vec<String>,
    verification: Verification,
    agent: AgentSettings,
    plain: Plain,
    cached_for: Option<Duration>,
    typing: Typing,
}

/// Whether JWTs must state that they are access tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Typing {
    /// Required once the issuer has sent a token that does so.
    Learned,
    /// Always required.
    Required,
    /// Never required.
    Optional,
}

enum Verification {
    Discovered,
    KeysAt(String),
    Keys(JwkSet),
    Introspection {
        at: Option<String>,
        client_id: String,
        secret: String,
    },
    Own(Arc<dyn Verify>),
}

impl Issuer {
    /// Makes an issuer with this URL, which must be written exactly as in the `iss` of its tokens,
    /// including a trailing slash.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            audiences: Vec::new(),
            algorithms: Algorithm::ALL.to_vec(),
            scope_claims: vec!["scope".into(), "scp".into()],
            verification: Verification::Discovered,
            agent: AgentSettings::new(),
            plain: Plain::Loopback,
            cached_for: None,
            typing: Typing::Learned,
        }
    }

    /// Accepts tokens for this audience too. Use it if the issuer has its own name for this server
    /// and cannot be configured to use the resource's URL. The name must mean this server and no
    /// other: another server could replay tokens for a shared audience. Further calls add
    /// audiences.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Accepts only signatures with these algorithms. Defaults to all algorithms of [`Algorithm`].
    /// It has no effect on introspection.
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Reads scopes from this claim too, in addition to `scope` and `scp`: for example `roles` or
    /// `permissions`. The claim may be a text separated by blanks, or a list.
    pub fn scope_claim(mut self, claim: impl Into<String>) -> Self {
        self.scope_claims.push(claim.into());
        self
    }

    /// Fetches keys from this URL (a JWK set) instead of using metadata. Use it for issuers without
    /// metadata.
    pub fn keys_at(mut self, url: impl Into<String>) -> Self {
        self.verification = Verification::KeysAt(url.into());
        self
    }

    /// Uses these keys and fetches none. Use it for tests, and for issuers that cannot be reached
    /// from the server. The keys do not change while the server runs.
    pub fn keys(mut self, keys: JwkSet) -> Self {
        self.verification = Verification::Keys(keys);
        self
    }

    /// Asks the issuer about each token (RFC 7662), at the introspection endpoint of its metadata,
    /// with the credentials of this client. Use it for tokens that are not JWTs, and if revoked
    /// tokens must stop working soon: a response is cached for 30 seconds.
    ///
    /// [`Guard::unknown_tokens`](super::Guard::unknown_tokens) limits how many requests one address
    /// can cause.
    pub fn introspect(mut self, client_id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.verification = Verification::Introspection {
            at: None,
            client_id: client_id.into(),
            secret: secret.into(),
        };
        self
    }

    /// Like [`introspect`](Self::introspect), with this endpoint instead of the one in the metadata.
    pub fn introspect_at(
        mut self,
        url: impl Into<String>,
        client_id: impl Into<String>,
        secret: impl Into<String>,
    ) -> Self {
        self.verification = Verification::Introspection {
            at: Some(url.into()),
            client_id: client_id.into(),
            secret: secret.into(),
        };
        self
    }

    /// Verifies tokens with your own function, for example by a database of API keys. The returned
    /// claims are checked like those of any other token. See [`Verify`].
    pub fn verify(mut self, verify: impl Verify) -> Self {
        self.verification = Verification::Own(Arc::new(verify));
        self
    }

    /// Sets for how long a verified token is accepted before it is verified again, but never beyond
    /// the token's expiry. Defaults to five minutes for signatures, and to 30 seconds for
    /// introspection and [`verify`](Self::verify).
    ///
    /// A longer time is cheaper; with a shorter time, revoked keys and tokens stop working sooner.
    pub fn cache_for(mut self, time: Duration) -> Self {
        self.cached_for = Some(time);
        self
    }

    /// Accepts only JWTs whose header states that they are access tokens: `typ` is `at+jwt` (RFC 9068).
    ///
    /// By default this is required once the issuer has sent a first token of that type. ID tokens
    /// are refused in any case.
    pub fn require_typed_tokens(mut self) -> Self {
        self.typing = Typing::Required;
        self
    }

    /// Accepts JWTs whose header does not state that they are access tokens, even after the issuer
    /// has sent others that do. Use it for an issuer that marks only some of its access tokens.
    pub fn accept_untyped_tokens(mut self) -> Self {
        self.typing = Typing::Optional;
        self
    }

    /// Contacts the issuer over plain `http`, although it is not on this machine. Use it only in a
    /// network that you trust: anyone who can change its responses can forge tokens.
    pub fn allow_http(mut self) -> Self {
        self.plain = Plain::Anywhere;
        self
    }

    /// Connects to the issuer with these settings, such as proxies and your own certificates.
    pub fn agent(mut self, agent: AgentSettings) -> Self {
        self.agent = agent;
        self
    }

    pub(super) fn build(self) -> Result<LiveIssuer, GuardError> {
        let bad = |url: &str, reason: &str| GuardError::Issuer {
            issuer: self.url.clone(),
            reason: format!("`{url}`: {reason}"),
        };
        let fetcher = IssuerFetcher::new(self.agent, self.plain);
        let address = |url: &str| {
            let address = Address::parse(url).map_err(|error| bad(url, &error.to_string()))?;
            if !fetcher.allows(&address) {
                return Err(bad(url, "tokens are not safe without TLS: use `https`"));
            }
            Ok(address)
        };
        address(&self.url)?;
        let (verify_by, cached_for) = match self.verification {
            Verification::Discovered => (VerifyBy::Keys(Keys::new(Place::Discovered)), SIGNED_FOR),
            Verification::KeysAt(url) => {
                let place = Place::At(address(&url)?);
                (VerifyBy::Keys(Keys::new(place)), SIGNED_FOR)
            }
            Verification::Keys(keys) => {
                let place = Place::Given(Arc::new(keys));
                (VerifyBy::Keys(Keys::new(place)), SIGNED_FOR)
            }
            Verification::Introspection {
                at,
                client_id,
                secret,
            } => {
                let at = at.as_deref().map(address).transpose()?;
                let asking = Introspection::new(client_id, secret, at);
                (VerifyBy::Introspection(asking), TOLD_FOR)
            }
            Verification::Own(own) => (VerifyBy::Own(own), TOLD_FOR),
        };
        Ok(LiveIssuer {
            url: self.url,
            audiences: self.audiences,
            algorithms: self.algorithms,
            scope_claims: self.scope_claims,
            cached_for: self.cached_for.unwrap_or(cached_for).as_secs(),
            verify_by,
            fetcher,
            typing: self.typing,
            is_typed: AtomicBool::new(false),
        })
    }
}

impl From<&str> for Issuer {
    fn from(url: &str) -> Self {
        Self::new(url)
    }
}

impl From<String> for Issuer {
    fn from(url: String) -> Self {
        Self::new(url)
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Leave out the other settings, which may contain a secret.
        f.debug_struct("Issuer")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// An issuer after its settings were checked, ready to verify tokens.
pub(super) struct LiveIssuer {
    pub(super) url: String,
    audiences: Vec<String>,
    algorithms: Vec<Algorithm>,
    scope_claims: Vec<String>,
    /// In seconds.
    pub(super) cached_for: u64,
    verify_by: VerifyBy,
    fetcher: IssuerFetcher,
    typing: Typing,
    /// Whether the issuer has sent a token that states that it is an access token.
    is_typed: AtomicBool,
}

enum VerifyBy {
    Keys(Keys),
    Introspection(Introspection),
    Own(Arc<dyn Verify>),
}

impl LiveIssuer {
    /// Whether the issuer can verify opaque tokens.
    pub(super) fn knows_opaque(&self) -> bool {
        !matches!(self.verify_by, VerifyBy::Keys(_))
    }

    /// Verifies a token and checks its claims.
    pub(super) async fn verify(
        &self,
        token: &str,
        resource: &Resource,
        now: u64,
    ) -> Result<Verified, VerifyError> {
        let (claims, expiry) = match &self.verify_by {
            VerifyBy::Keys(keys) => (self.signed(keys, token, now).await?, Expiry::Needed),
            VerifyBy::Introspection(asking) => {
                let claims = asking.ask(&self.fetcher, &self.url, token).await?;
                (claims, Expiry::Optional)
            }
            VerifyBy::Own(own) => {
                let verifying = own.verify(token.to_owned());
                let claims = tokio::time::timeout(OWN_DEADLINE, verifying).await;
                let late =
                    || VerifyError::Unavailable(format!("no answer within {OWN_DEADLINE:?}"));
                (claims.map_err(|_| late())??, Expiry::Optional)
            }
        };
        let rules = Rules {
            issuer: &self.url,
            resource,
            audiences: &self.audiences,
            scope_claims: &self.scope_claims,
            expiry,
        };
        rules.check(claims, now)
    }

    async fn signed(&self, keys: &Keys, token: &str, now: u64) -> Result<Claims, VerifyError> {
        let invalid = |reason: String| VerifyError::Invalid(reason);
        let token = Jws::parse(token).map_err(|error| invalid(error.to_string()))?;
        let kind = TokenKind::of(token.header().typ.as_deref());
        let is_demanded = match self.typing {
            Typing::Learned => self.is_typed.load(Ordering::Relaxed),
            Typing::Required => true,
            Typing::Optional => false,
        };
        match kind {
            TokenKind::Other => {
                return Err(invalid(
                    "the token's `typ` is not that of an access token".into(),
                ));
            }
            TokenKind::Unsaid if is_demanded => {
                let reason = "the token does not say that it is an access token: its `typ` must be \
                              `at+jwt`, see `Issuer::accept_untyped_tokens`";
                return Err(invalid(reason.into()));
            }
            TokenKind::Unsaid | TokenKind::AccessToken => {}
        }
        let algorithm = token.algorithm(&self.algorithms);
        let algorithm = algorithm.map_err(|error| invalid(error.to_string()))?;
        let keys = keys
            .for_token(&self.fetcher, &self.url, &token, algorithm, now)
            .await?;
        let claims = token.verify(&keys, &self.algorithms);
        let claims = claims.map_err(|error| invalid(error.to_string()))?;
        if !claims.contains_key("iss") {
            return Err(invalid("the token names no issuer".into()));
        }
        if kind == TokenKind::AccessToken {
            self.is_typed.store(true, Ordering::Relaxed);
        } else if is_id_token(&claims) {
            let reason = "the token is an ID token: send the access token";
            return Err(invalid(reason.into()));
        }
        Ok(claims)
    }
}

/// The kind of token, according to the `typ` in the header of a JWT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    AccessToken,
    /// The header states no more specific type than JWT.
    Unsaid,
    /// Tokens for other purposes, such as logout tokens or proofs.
    Other,
}

impl TokenKind {
    fn of(kind: Option<&str>) -> Self {
        match kind.map(str::to_ascii_lowercase).as_deref() {
            Some("at+jwt" | "application/at+jwt") => Self::AccessToken,
            None | Some("jwt") => Self::Unsaid,
            Some(_) => Self::Other,
        }
    }
}

/// Whether an untyped JWT is an ID token: it has claims of ID tokens (OpenID Connect Core, 2 and
/// 3.3.2.11), or a claim by which some issuers mark their tokens.
fn is_id_token(claims: &Claims) -> bool {
    let says = |name: &str, kind: &str| {
        let said = claims.get(name).and_then(Value::as_str);
        said.is_some_and(|said| said.eq_ignore_ascii_case(kind))
    };
    let has = |name: &&str| claims.contains_key(*name);
    let is_for_access = says("typ", "Bearer") || ["scope", "scp"].iter().any(has);
    says("typ", "ID")
        || says("token_use", "id")
        || ["at_hash", "c_hash", "s_hash"].iter().any(has)
        || (claims.contains_key("nonce") && !is_for_access)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn id_tokens_are_told_from_access_tokens() {
        let is_id = |claims: Value| is_id_token(claims.as_object().expect("an object"));
        for id in [
            json!({ "typ": "ID" }),
            json!({ "token_use": "id" }),
            json!({ "at_hash": "x", "scope": "openid" }),
            json!({ "nonce": "x", "sub": "ada" }),
        ] {
            assert!(is_id(id.clone()), "{id}");
        }
        for access in [
            json!({ "typ": "Bearer", "nonce": "x" }),
            json!({ "token_use": "access" }),
            json!({ "nonce": "x", "scope": "notes" }),
            json!({ "sub": "ada" }),
        ] {
            assert!(!is_id(access.clone()), "{access}");
        }
    }
}
