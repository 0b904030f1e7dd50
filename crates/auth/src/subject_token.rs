//! The token of a caller, for token exchange.

use std::{fmt, sync::Arc};

use turnbuckle_base::lock::Mutex;

use crate::Secret;

/// The token of a verified caller, which can be exchanged at an authorization server for a token of
/// another server (RFC 8693).
///
/// If a guard is configured to [keep it](crate::server::Guard::keep_subject_tokens), handlers get
/// it as an attribute of the `Caller`: `caller.get::<SubjectToken>()`. Its only use is the
/// [exchange](crate::client::OAuth::exchange), because a token that was issued for one server must
/// not be sent to another.
#[derive(Clone)]
pub struct SubjectToken(Arc<Mutex<Held>>);

#[derive(Clone)]
struct Held {
    current: HeldToken,
    /// Another token of the caller. It is used if the authorization server refuses the current one,
    /// which may have been revoked.
    other: Option<HeldToken>,
}

#[derive(Clone)]
struct HeldToken {
    token: Secret,
    /// When it expires, in seconds since 1970, if its issuer stated it.
    expires: Option<u64>,
}

impl HeldToken {
    /// Whether another token should replace this one because it lasts longer. A token without a
    /// stated end may last forever or a minute, so the newer token is used.
    fn is_outlasted_by(&self, other: &Self) -> bool {
        match (self.expires, other.expires) {
            (Some(own), Some(other)) => other > own,
            _ => true,
        }
    }
}

impl SubjectToken {
    pub(crate) fn new(token: &str, expires: Option<u64>) -> Self {
        let token = Secret::new(token);
        let held = Held {
            current: HeldToken { token, expires },
            other: None,
        };
        Self(Arc::new(Mutex::new(held)))
    }

    pub(crate) fn secret(&self) -> Secret {
        self.0.lock().current.token.clone()
    }

    /// Replaces a token that the authorization server refused. Returns false if there is no other
    /// token to try.
    pub(crate) fn replace(&self, refused: &Secret) -> bool {
        let mut held = self.0.lock();
        if held.current.token != *refused {
            return true;
        }
        match held.other.take() {
            Some(other) => {
                held.current = other;
                true
            }
            None => false,
        }
    }

    /// Makes a copy with its own token: [renewing](Self::renew) one does not change the other.
    /// Plain clones share their token.
    pub fn deep_clone(&self) -> Self {
        let held = self.0.lock().clone();
        Self(Arc::new(Mutex::new(held)))
    }

    /// Uses another token of the same caller from now on, in all clones. If the other token expires
    /// sooner than this one, it is used only if this one is refused.
    pub fn renew(&self, other: &Self) {
        if Arc::ptr_eq(&self.0, &other.0) {
            return;
        }
        let other = other.0.lock().current.clone();
        let mut held = self.0.lock();
        if held.current.token == other.token {
            return;
        }
        held.other = Some(if held.current.is_outlasted_by(&other) {
            std::mem::replace(&mut held.current, other)
        } else {
            other
        });
    }
}

impl fmt::Debug for SubjectToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubjectToken")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_expires_sooner_replaces_none_that_lasts_longer() {
        let kept = SubjectToken::new("noon", Some(1_200)).deep_clone();
        for (token, expires, held) in [
            ("one", Some(1_300), "one"),
            ("noon", Some(1_200), "one"),
            ("two", Some(1_400), "two"),
            ("unknown", None, "unknown"),
            ("three", Some(1_100), "three"),
        ] {
            kept.renew(&SubjectToken::new(token, expires));
            assert_eq!(kept.secret(), Secret::new(held), "{token}");
        }
    }

    #[test]
    fn a_token_that_expires_sooner_is_used_once_the_other_is_refused() {
        let kept = SubjectToken::new("evening", Some(1_800)).deep_clone();
        let (evening, noon) = (Secret::new("evening"), Secret::new("noon"));
        assert!(!kept.replace(&evening), "there is no other");
        kept.renew(&SubjectToken::new("noon", Some(1_200)));
        assert_eq!(kept.secret(), evening);
        assert!(kept.replace(&evening));
        assert_eq!(kept.secret(), noon);
        // The refused token is sent again by another client of the caller.
        kept.renew(&SubjectToken::new("evening", Some(1_800)));
        assert!(kept.replace(&evening));
        assert_eq!(kept.secret(), noon);
        assert!(!kept.replace(&noon));
    }
}
