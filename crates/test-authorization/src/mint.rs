//! Makes access tokens.

use std::time::Duration;

use serde_json::{Map, Value, json};
use turnbuckle_auth::jose::SigningKey;

use super::{
    fault::Fault,
    settings::Tokens,
    state::{Grant, Site, now, random},
};

/// How long ago an expired token expired, in seconds: more than clocks differ.
const LONG_AGO: u64 = 3600;

/// A token under construction, which is made without any flow.
#[must_use = "no token is made before `mint` is called"]
pub struct Minting<'a> {
    site: &'a Site,
    claims: Map<String, Value>,
    kind: Tokens,
}

impl<'a> Minting<'a> {
    pub(super) fn new(site: &'a Site, subject: &str) -> Self {
        let claims = json!({
            "iss": site.issuer, "sub": subject, "client_id": "test", "jti": random(),
            "iat": now(), "exp": now() + site.settings.lifetime.as_secs(),
        });
        Self {
            site,
            claims: claims.as_object().cloned().unwrap_or_default(),
            kind: site.settings.tokens,
        }
    }

    /// Sets the server that the token is for (`aud`).
    pub fn audience(self, audience: impl Into<String>) -> Self {
        self.claim("aud", audience.into())
    }

    /// Sets the scopes.
    pub fn scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> Self {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        self.claim("scope", scopes.join(" "))
    }

    /// Sets the client (`client_id`).
    pub fn client(self, client: impl Into<String>) -> Self {
        self.claim("client_id", client.into())
    }

    /// Sets the lifetime, from now.
    pub fn expires_in(self, time: Duration) -> Self {
        self.claim("exp", now() + time.as_secs())
    }

    /// Makes the token expire an hour ago.
    pub fn expired(self) -> Self {
        self.claim("exp", now().saturating_sub(LONG_AGO))
    }

    /// Binds the token to the key with this thumbprint.
    pub fn bound_to(self, thumbprint: impl Into<String>) -> Self {
        self.claim("cnf", json!({ "jkt": thumbprint.into() }))
    }

    /// Sets a claim; null removes it.
    pub fn claim(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let (name, value) = (name.into(), value.into());
        if value.is_null() {
            self.claims.remove(&name);
        } else {
            self.claims.insert(name, value);
        }
        self
    }

    /// Sets the kind of the token, whatever the server usually issues.
    pub fn kind(mut self, kind: Tokens) -> Self {
        self.kind = kind;
        self
    }

    /// Makes the token.
    pub fn mint(self) -> String {
        self.site.write(self.claims, self.kind)
    }
}

impl Site {
    /// Makes the access token for a grant.
    pub(super) fn access_token(&self, grant: &Grant) -> String {
        let mut state = self.state();
        let orders = &mut state.orders;
        let audience = orders.take(|fault| match fault {
            Fault::WrongAudience(other) => Some(other.clone()),
            _ => None,
        });
        let issuer = orders.take(|fault| match fault {
            Fault::WrongTokenIssuer(other) => Some(other.clone()),
            _ => None,
        });
        let is_expired = orders.has(&Fault::ExpiredTokens);
        let is_empty = orders.has(&Fault::NoScopes);
        drop(state);
        let mut minting = Minting::new(self, &grant.subject).client(grant.client.as_str());
        if let Some(audience) = audience.or_else(|| grant.resource.clone()) {
            minting = minting.audience(audience);
        }
        if let Some(issuer) = issuer {
            minting = minting.claim("iss", issuer);
        }
        if is_expired {
            minting = minting.expired();
        }
        if !is_empty && !grant.scopes.is_empty() {
            minting = minting.scopes(grant.scopes.clone());
        }
        if let Some(key) = &grant.key {
            minting = minting.bound_to(key.as_str());
        }
        minting.mint()
    }

    fn write(&self, claims: Map<String, Value>, kind: Tokens) -> String {
        let mut state = self.state();
        match kind {
            Tokens::Opaque => {
                let token = random();
                state.access.put(token.clone(), claims);
                token
            }
            Tokens::Signed => {
                let key = state.key();
                let is_stranger = state.orders.has(&Fault::UnknownKey);
                drop(state);
                let claims = Value::Object(claims);
                if is_stranger && let Ok(other) = SigningKey::generate() {
                    return sign(&other.with_key_id("unknown"), "at+jwt", &claims);
                }
                sign(&key, "at+jwt", &claims)
            }
        }
    }
}

/// # Panics
/// If the operating system returns no random bytes.
pub(super) fn sign(key: &SigningKey, kind: &str, claims: &Value) -> String {
    let signed = key.sign(kind, claims);
    signed.expect("claims are JSON, and the machine has randomness")
}
