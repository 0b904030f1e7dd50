//! Who issues tokens, and how they are verified.

use std::{fmt, sync::Arc, time::Duration};

use turnbuckle_transport::http::client::{Address, AgentSettings};

use super::{
    claims::{Expiry, Rules, Verified},
    fetch::{IssuerFetcher, Plain},
    guard_error::GuardError,
    introspection::Introspection,
    keys::{Keys, Place},
    resource::Resource,
    verify::{Verify, VerifyError},
};
use crate::jose::{Algorithm, JwkSet, Jws};

/// How long a signature that was verified is believed without its key being looked at again.
const SIGNED_FOR: Duration = Duration::from_mins(5);

/// How long the word of somebody who was asked is believed: a token that is revoked is good for as
/// long as this.
const TOLD_FOR: Duration = Duration::from_secs(30);

/// How long a verifier of the author's own may take.
const OWN_DEADLINE: Duration = Duration::from_secs(30);

/// An issuer of tokens: an authorization server or identity provider.
///
/// Unless told otherwise its tokens are JWTs, verified with the keys that its metadata leads to.
///
/// ```
/// use turnbuckle_auth::server::Issuer;
///
/// let keycloak = Issuer::new("https://login.example.com/realms/main");
/// let opaque = Issuer::new("https://login.example.com").introspect("notes", "the secret");
/// let auth0 = Issuer::new("https://tenant.eu.auth0.com/").scope_claim("permissions");
/// ```
#[must_use = "give it to a guard"]
pub struct Issuer {
    url: String,
    audiences: Vec<String>,
    algorithms: Vec<Algorithm>,
    scope_claims: Vec<String>,
    verification: Verification,
    agent: AgentSettings,
    plain: Plain,
    believed_for: Option<Duration>,
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
    /// The issuer with this URL, written exactly as in `iss` of its tokens.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            audiences: Vec::new(),
            algorithms: Algorithm::ALL.to_vec(),
            scope_claims: vec!["scope".into(), "scp".into()],
            verification: Verification::Discovered,
            agent: AgentSettings::new(),
            plain: Plain::Loopback,
            believed_for: None,
        }
    }

    /// Also takes tokens for this audience: what the issuer calls this server, where it cannot be
    /// told to use the resource's URL. It must mean this server and no other.
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// Takes signatures of these algorithms only.
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Also reads scopes from this claim, besides `scope` and `scp`: for example `roles` or
    /// `permissions`.
    pub fn scope_claim(mut self, claim: impl Into<String>) -> Self {
        self.scope_claims.push(claim.into());
        self
    }

    /// Fetches keys from this URL, and looks at no metadata.
    pub fn keys_at(mut self, url: impl Into<String>) -> Self {
        self.verification = Verification::KeysAt(url.into());
        self
    }

    /// Uses these keys, and fetches none.
    pub fn keys(mut self, keys: JwkSet) -> Self {
        self.verification = Verification::Keys(keys);
        self
    }

    /// Asks the issuer about each token (RFC 7662), at the endpoint that its metadata names, as
    /// this client. For tokens that are no JWTs, and where a revoked token must end soon.
    pub fn introspect(mut self, client_id: impl Into<String>, secret: impl Into<String>) -> Self {
        self.verification = Verification::Introspection {
            at: None,
            client_id: client_id.into(),
            secret: secret.into(),
        };
        self
    }

    /// The same at this endpoint.
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

    /// Verifies tokens in a way of your own.
    pub fn verify(mut self, verify: impl Verify) -> Self {
        self.verification = Verification::Own(Arc::new(verify));
        self
    }

    /// Believes a token that was verified for this long before it is verified again; never longer
    /// than the token is good. Five minutes for signatures, half a minute for what others say,
    /// unless set.
    pub fn believe_for(mut self, time: Duration) -> Self {
        self.believed_for = Some(time);
        self
    }

    /// Asks the issuer by plain `http`, although it is not on this machine. Only within a network
    /// where nobody else can listen or answer.
    pub fn allow_http(mut self) -> Self {
        self.plain = Plain::Anywhere;
        self
    }

    /// Reaches the issuer with these settings: proxies, certificates of your own.
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
        let (how, believed_for) = match self.verification {
            Verification::Discovered => (How::Keys(Keys::new(Place::Discovered)), SIGNED_FOR),
            Verification::KeysAt(url) => {
                let place = Place::At(address(&url)?);
                (How::Keys(Keys::new(place)), SIGNED_FOR)
            }
            Verification::Keys(keys) => {
                let place = Place::Given(Arc::new(keys));
                (How::Keys(Keys::new(place)), SIGNED_FOR)
            }
            Verification::Introspection {
                at,
                client_id,
                secret,
            } => {
                let at = at.as_deref().map(address).transpose()?;
                let asking = Introspection::new(client_id, secret, at);
                (How::Introspection(asking), TOLD_FOR)
            }
            Verification::Own(own) => (How::Own(own), TOLD_FOR),
        };
        Ok(LiveIssuer {
            url: self.url,
            audiences: self.audiences,
            algorithms: self.algorithms,
            scope_claims: self.scope_claims,
            believed_for: self.believed_for.unwrap_or(believed_for).as_secs(),
            how,
            fetcher,
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
        // There may be a secret in it.
        f.debug_struct("Issuer")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// An issuer that is ready to be asked.
pub(super) struct LiveIssuer {
    pub(super) url: String,
    audiences: Vec<String>,
    algorithms: Vec<Algorithm>,
    scope_claims: Vec<String>,
    /// Seconds.
    pub(super) believed_for: u64,
    how: How,
    fetcher: IssuerFetcher,
}

enum How {
    Keys(Keys),
    Introspection(Introspection),
    Own(Arc<dyn Verify>),
}

impl LiveIssuer {
    /// Whether it knows tokens that say nothing of themselves.
    pub(super) fn knows_opaque(&self) -> bool {
        !matches!(self.how, How::Keys(_))
    }

    /// Verifies a token, and holds its claims to the rules.
    pub(super) async fn verify(
        &self,
        token: &str,
        resource: &Resource,
        now: u64,
    ) -> Result<Verified, VerifyError> {
        let (claims, expiry) = match &self.how {
            How::Keys(keys) => (self.signed(keys, token, now).await?, Expiry::Needed),
            How::Introspection(asking) => {
                let claims = asking.ask(&self.fetcher, &self.url, token).await?;
                (claims, Expiry::Optional)
            }
            How::Own(own) => {
                let verifying = own.verify(token.to_owned());
                let claims = tokio::time::timeout(OWN_DEADLINE, verifying).await;
                let late = || VerifyError::Unavailable(format!("not within {OWN_DEADLINE:?}"));
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

    async fn signed(
        &self,
        keys: &Keys,
        token: &str,
        now: u64,
    ) -> Result<super::verify::Claims, VerifyError> {
        let invalid = |reason: String| VerifyError::Invalid(reason);
        let token = Jws::parse(token).map_err(|error| invalid(error.to_string()))?;
        if !is_access_token(token.header().typ.as_deref()) {
            return Err(invalid("the token is of another type".into()));
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
        Ok(claims)
    }
}

/// Whether a JWT may be an access token. Tokens for other ends, such as logout or proofs, say so.
fn is_access_token(kind: Option<&str>) -> bool {
    kind.is_none_or(|kind| {
        ["jwt", "at+jwt", "application/at+jwt"].contains(&kind.to_ascii_lowercase().as_str())
    })
}
