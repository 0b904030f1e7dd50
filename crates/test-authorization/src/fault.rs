//! Faults that can be ordered.

use std::time::Duration;

/// An endpoint of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// The metadata documents.
    Metadata,
    /// The public keys.
    Keys,
    /// The registration endpoint.
    Register,
    /// The authorization endpoint.
    Authorize,
    /// The token endpoint.
    Token,
    /// The introspection endpoint.
    Introspect,
    /// The revocation endpoint.
    Revoke,
}

/// A fault that the server makes when it is ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The metadata names this other issuer.
    MetadataIssuer(String),
    /// The metadata does not announce PKCE with S256.
    NoPkceInMetadata,
    /// The metadata does not announce `iss` in authorization responses; they contain it nevertheless.
    NoIssInMetadata,
    /// Authorization responses contain no `iss`, although the metadata announces it.
    MissingIss,
    /// Authorization responses contain this `iss`.
    WrongIss(String),
    /// Authorization responses contain another `state`.
    WrongState,
    /// The user declines.
    Denied,
    /// Access tokens are already expired when they are issued.
    ExpiredTokens,
    /// Access tokens are for this audience.
    WrongAudience(String),
    /// Access tokens name this issuer.
    WrongTokenIssuer(String),
    /// Access tokens lack the scopes that were requested.
    NoScopes,
    /// Access tokens are signed with a key that is not published.
    UnknownKey,
    /// DPoP proofs at the token endpoint need a nonce.
    DemandNonce,
    /// No refresh tokens are issued.
    NoRefreshTokens,
    /// Refresh tokens are refused.
    RefuseRefresh,
    /// An endpoint answers with this status.
    Status(Endpoint, u16),
    /// An endpoint answers with something that is not JSON.
    Garbage(Endpoint),
    /// An endpoint answers after this delay.
    Slow(Endpoint, Duration),
}

/// The ordered faults.
#[derive(Debug, Default)]
pub(super) struct Orders(Vec<(Fault, Lasting)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasting {
    Always,
    Once,
}

impl Orders {
    pub(super) fn add(&mut self, fault: Fault, lasting: Lasting) {
        self.0.push((fault, lasting));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns what `pick` finds among the ordered faults. A fault that was ordered once is removed.
    pub(super) fn take<T>(&mut self, pick: impl Fn(&Fault) -> Option<T>) -> Option<T> {
        let (place, found) = self
            .0
            .iter()
            .enumerate()
            .find_map(|(place, (fault, _))| Some((place, pick(fault)?)))?;
        if self.0[place].1 == Lasting::Once {
            self.0.remove(place);
        }
        Some(found)
    }

    /// Whether this fault is ordered.
    pub(super) fn has(&mut self, fault: &Fault) -> bool {
        self.take(|ordered| (ordered == fault).then_some(()))
            .is_some()
    }
}
