//! What can be ordered to go wrong.

use std::time::Duration;

/// One of the server's places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Endpoint {
    /// The documents about the server.
    Metadata,
    /// Its public keys.
    Keys,
    /// Where clients register.
    Register,
    /// Where people are sent.
    Authorize,
    /// Where tokens are fetched.
    Token,
    /// Where servers ask about tokens.
    Introspect,
    /// Where tokens are given back.
    Revoke,
}

/// Something that goes wrong when it is ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The metadata is of another issuer: this one.
    MetadataIssuer(String),
    /// The metadata does not say that PKCE with S256 is known.
    NoPkceInMetadata,
    /// The metadata does not say that answers carry `iss`; they do all the same.
    NoIssInMetadata,
    /// Answers of the authorization endpoint carry no `iss`, although the metadata says so.
    MissingIss,
    /// Answers of the authorization endpoint carry this `iss`.
    WrongIss(String),
    /// Answers of the authorization endpoint carry another `state`.
    WrongState,
    /// The person says no.
    Denied,
    /// Access tokens have expired when they are issued.
    ExpiredTokens,
    /// Access tokens are for this audience.
    WrongAudience(String),
    /// Access tokens say that they are of this issuer.
    WrongTokenIssuer(String),
    /// Access tokens lack the scopes that were requested.
    NoScopes,
    /// Access tokens are signed with a key that is not published.
    UnknownKey,
    /// Proofs at the token endpoint need a nonce.
    DemandNonce,
    /// No refresh tokens are issued.
    NoRefreshTokens,
    /// Refresh tokens are refused.
    RefuseRefresh,
    /// A place answers with this status.
    Status(Endpoint, u16),
    /// An endpoint answers with something that is not JSON.
    Garbage(Endpoint),
    /// An endpoint answers after this time.
    Slow(Endpoint, Duration),
}

/// What has been ordered.
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

    /// What a picker finds among the orders. One that was for once is gone then.
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

    /// Whether this is ordered.
    pub(super) fn has(&mut self, fault: &Fault) -> bool {
        self.take(|ordered| (ordered == fault).then_some(()))
            .is_some()
    }
}
