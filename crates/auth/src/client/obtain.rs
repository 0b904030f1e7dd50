//! Gets tokens for one server after a refusal.

use std::sync::Arc;

use super::challenge::Wanted;
use super::clock::Timestamp;
use super::discovery::{Discovered, discover};
use super::dpop::ProofKey;
use super::engine::{Asked, Engine};
use super::settings::{Grant, Offline};
use super::tokens::{TokenState, Tokens};
use super::{AuthError, Dpop, Problem, Scopes, Step};

/// Why tokens are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// There are no tokens, or they were refused.
    Refused,
    /// The tokens were renewed, and are still refused.
    RenewedInVain,
    /// The tokens are about to expire.
    Expired,
    /// The tokens do not have the required scopes.
    TooNarrow,
}

impl Engine {
    /// Gets tokens, replacing the `old` ones if there are any.
    pub(crate) async fn obtain(
        &self,
        cause: Cause,
        wanted: &Wanted,
        old: Option<&Tokens>,
    ) -> Result<(Tokens, TokenState), AuthError> {
        self.settings.reach.check(Step::Use, &self.server)?;
        // Discover each time: a server may have moved to another authorization server.
        let found = discover(&self.fetcher, &self.server, wanted, self.known_issuer()).await?;
        self.check_issuer(&found)?;
        let kept = self.kept(&found).await;
        // Tokens of another issuer are of no use here.
        let old = old.filter(|old| old.issuer == found.server.issuer);
        let got = match cause {
            Cause::Refused | Cause::Expired => {
                self.without_asking(&found, old, kept.as_ref()).await?
            }
            Cause::RenewedInVain | Cause::TooNarrow => None,
        };
        let (tokens, state) = match got {
            Some(got) => got,
            None if cause == Cause::Expired && matches!(self.settings.grant, Grant::Code) => {
                // Do not ask the user ahead of time: the server's requirements may change until then.
                let reason = "the tokens cannot be renewed without a refresh token";
                let problem = Problem::Missing(reason.to_owned());
                return Err(AuthError::new(Step::Refresh, problem).at(&self.server));
            }
            None => {
                let tokens = self.grant(&found, wanted, old.or(kept.as_ref())).await?;
                (tokens, TokenState::New)
            }
        };
        if state == TokenState::New {
            self.keep_granted(&tokens).await;
        }
        // Tokens in other states are stored already: they were loaded, or saved under the lock of
        // their renewal. Do not save them again, because another process may have stored newer
        // ones.
        self.point_to(&tokens, wanted).await;
        Ok((tokens, state))
    }

    /// The issuer that tokens must come from, if one is set.
    fn known_issuer(&self) -> Option<&str> {
        let registered = self.settings.registered.as_ref();
        let registered = registered.and_then(|registered| registered.issuer.as_deref());
        self.settings.issuer.as_deref().or(registered)
    }

    /// Checks the issuer that was set. A server without metadata is its own authorization server,
    /// so discovery did not check it.
    fn check_issuer(&self, found: &Discovered) -> Result<(), AuthError> {
        match self.settings.issuer.as_deref() {
            Some(issuer) if issuer != found.server.issuer => {
                let problem = Problem::Mismatch {
                    what: "the authorization server",
                    expected: issuer.to_owned(),
                    found: super::error::shown(&found.server.issuer),
                };
                Err(AuthError::new(Step::ServerMetadata, problem)
                    .at(&self.server)
                    .hint("nothing was sent there; change `OAuth::issuer` if the server has moved"))
            }
            _ => Ok(()),
        }
    }

    /// Gets tokens without the user: tokens that another process has stored, or tokens from a renewal.
    async fn without_asking(
        &self,
        found: &Discovered,
        old: Option<&Tokens>,
        kept: Option<&Tokens>,
    ) -> Result<Option<(Tokens, TokenState)>, AuthError> {
        let is_other = |kept: &&Tokens| old.is_none_or(|old| old.access != kept.access);
        if let Some(kept) = kept.filter(is_other)
            && !kept.is_expired(Timestamp::now())
        {
            // Another process has signed in, or this process has just started.
            return Ok(Some((kept.clone(), TokenState::Tried)));
        }
        match old.or(kept) {
            Some(old) => self.refresh(old, &found.server).await,
            None => Ok(None),
        }
    }

    async fn grant(
        &self,
        found: &Discovered,
        wanted: &Wanted,
        old: Option<&Tokens>,
    ) -> Result<Tokens, AuthError> {
        let scopes = self.scopes(found, wanted, old);
        let key = self.key(found, wanted, old)?;
        let asked = Asked {
            found,
            scopes: &scopes,
            key: key.as_ref(),
        };
        let tokens = match &self.settings.grant {
            Grant::Code => self.authorization_code(&asked).await?,
            Grant::ClientCredentials => self.client_credentials(&asked).await?,
            Grant::Enterprise(enterprise) => self.enterprise(&asked, enterprise).await?,
            Grant::Workload(assertion) => self.workload(&asked, &**assertion).await?,
            #[cfg(feature = "server")]
            Grant::Exchange(exchange) => self.token_exchange(&asked, exchange).await?,
        };
        if self.settings.dpop == Dpop::Required && tokens.key.is_none() {
            let problem = Problem::Unsupported("the token is not bound to a key".to_owned());
            return Err(AuthError::new(Step::Token, problem).rule("RFC 9449, 5"));
        }
        Ok(tokens)
    }

    /// A11 and A13: the scopes of the refusal, otherwise those of the resource's metadata,
    /// otherwise none; in addition to those that were requested before.
    fn scopes(&self, found: &Discovered, wanted: &Wanted, old: Option<&Tokens>) -> Scopes {
        let told = wanted.scope.as_ref().or(found.scopes.as_ref());
        let mut scopes = old.map(|old| old.requested.clone()).unwrap_or_default();
        if let Some(told) = told {
            scopes = scopes.union(told);
        }
        scopes = scopes.union(&self.settings.scopes);
        let is_offered = found.server.lists_scope("offline_access");
        let is_wanted = self.settings.offline == Offline::Ask && !scopes.is_empty();
        // `offline_access` alone would replace the default scopes of the server.
        if matches!(self.settings.grant, Grant::Code) && is_offered && is_wanted {
            return scopes.with("offline_access");
        }
        scopes
    }

    /// The key to bind tokens to, if any.
    fn key(
        &self,
        found: &Discovered,
        wanted: &Wanted,
        old: Option<&Tokens>,
    ) -> Result<Option<Arc<ProofKey>>, AuthError> {
        let is_asked = wanted.takes_dpop || found.takes_dpop || found.wants_dpop;
        let is_needed = self.settings.dpop == Dpop::Required
            || found.wants_dpop
            || (wanted.takes_dpop && !wanted.takes_bearer);
        match self.settings.dpop {
            Dpop::Never => Ok(None),
            Dpop::WhenAsked if !is_asked => Ok(None),
            _ if found.server.takes_dpop() => match old.and_then(|old| old.key.clone()) {
                Some(key) => Ok(Some(key)),
                None => Ok(Some(Arc::new(ProofKey::generate()?))),
            },
            _ if !is_needed => Ok(None),
            _ => {
                let reason = "the authorization server does not bind tokens to ES256 keys";
                let problem = Problem::Unsupported(reason.to_owned());
                Err(AuthError::new(Step::ServerMetadata, problem)
                    .at(&self.server)
                    .rule("RFC 9449, 5.1, `dpop_signing_alg_values_supported`"))
            }
        }
    }
}
