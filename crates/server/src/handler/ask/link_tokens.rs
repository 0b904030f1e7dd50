//! Link tokens, which bind a link to the user for whom it was made.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use turnbuckle_base::wall_clock;
use turnbuckle_session::round::{
    BadState, Binding, Journal, KeyRing, RequestDigest,
    seal::{NONCE_BYTES, WeakSecret},
};

use crate::{Caller, Fault};

/// The default time for which a token is valid: enough to find a card or another device.
const TTL: Duration = Duration::from_mins(15);

/// The maximum length of a token, in bytes. Tokens that are made here have about two hundred.
const MAX_BYTES: usize = 1024;

/// A prefix for the page's name, so that a token cannot be used for anything else.
const PURPOSE: &str = "turnbuckle visit";

/// Makes and checks the tokens in links to pages that users are sent to by
/// [`Asker::url`](crate::Asker::url).
///
/// A client shows the link, so it can be forwarded to another person, who would then sign in or pay
/// for the wrong user. Therefore a token grants nothing by itself. The page must identify its
/// visitor in another way, such as a cookie or the same sign-in; the token tells whether the link
/// was made for that visitor.
///
/// ```
/// use turnbuckle_server::{Caller, LinkTokens};
///
/// let tokens = LinkTokens::new(&[7; 32])?;
/// let ada = Caller::new("ada");
/// // In the handler, within a `memo`: the link must be the same when it runs again.
/// let token = tokens.issue("pay", &ada)?;
/// let link = format!("https://shop.example/pay?visit={token}");
/// // On the page, for who has signed in there.
/// assert!(tokens.check("pay", &token, &ada).is_ok());
/// assert!(tokens.check("pay", &token, &Caller::new("eve")).is_err());
/// # drop(link);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LinkTokens {
    keys: Arc<KeyRing>,
    ttl: Duration,
}

impl LinkTokens {
    /// Derives keys from a secret of at least 16 random bytes. Use the same secret where links are
    /// made and on the page.
    ///
    /// # Errors
    /// If the secret is too short.
    pub fn new(secret: &[u8]) -> Result<Self, WeakSecret> {
        Ok(Self {
            keys: Arc::new(KeyRing::from_secret(secret)?),
            ttl: TTL,
        })
    }

    /// Sets how long a token is valid. Defaults to 15 minutes. The clocks of the server and of the
    /// page must agree.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Makes a token for a page, valid for this caller only. It needs no encoding in a URL.
    ///
    /// # Errors
    /// If the operating system returns no random bytes.
    pub fn issue(&self, page: &str, caller: &Caller) -> Result<String, Fault> {
        let mut nonce = [0; NONCE_BYTES];
        getrandom::fill(&mut nonce).map_err(|error| {
            Fault::new(format!(
                "could not get random bytes from the operating system: {error}"
            ))
        })?;
        let expires = now().saturating_add(millis(self.ttl));
        let binding = binding(page, caller);
        Ok(self.keys.seal(&Journal::new(), &binding, expires, nonce))
    }

    /// Checks that the visitor of a page is the user for whom the token was made.
    ///
    /// # Errors
    /// [`LinkTokenError`] if not. Its message is for the visitor.
    pub fn check(&self, page: &str, token: &str, visitor: &Caller) -> Result<(), LinkTokenError> {
        if token.len() > MAX_BYTES {
            return Err(LinkTokenError::Unknown);
        }
        match self.keys.open(token, &binding(page, visitor), now()) {
            Ok(_) => Ok(()),
            Err(BadState::OtherCaller) => Err(LinkTokenError::OtherUser),
            Err(BadState::Expired { .. }) => Err(LinkTokenError::Expired),
            Err(_) => Err(LinkTokenError::Unknown),
        }
    }
}

impl fmt::Debug for LinkTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("LinkTokens");
        shown.field("ttl", &self.ttl).finish_non_exhaustive()
    }
}

/// The reason why a token was refused, from [`LinkTokens::check`]. The message is for the visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkTokenError {
    /// The link was made for another user. Nothing that this visitor does may count for that user.
    #[error("this link was made for another user; request a link of your own")]
    OtherUser,
    /// The token is older than [`LinkTokens::ttl`] allows.
    #[error("this link has expired; go back and ask for another")]
    Expired,
    /// The text is not a token for this page, was changed, or was made with another secret.
    #[error("this link is not valid for this page; request a new one")]
    Unknown,
}

fn binding<'a>(page: &str, caller: &'a Caller) -> Binding<'a> {
    let binding = Binding::new(RequestDigest::named(PURPOSE, page));
    match caller.id() {
        Some(id) => binding.with_caller(id),
        None => binding,
    }
}

/// Milliseconds since 1970.
fn now() -> u64 {
    wall_clock::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, millis)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> LinkTokens {
        LinkTokens::new(&[7; 32]).unwrap()
    }

    // elicitation: servers MUST bind a visit to the user, and verify who opens the URL.
    // rule: E6
    #[test]
    fn only_the_user_who_was_sent_is_admitted() {
        let (ada, eve) = (Caller::new("ada"), Caller::new("eve"));
        let token = tokens().issue("pay", &ada).unwrap();
        // On another machine with the same secret.
        assert_eq!(tokens().check("pay", &token, &ada), Ok(()));
        let other = Err(LinkTokenError::OtherUser);
        assert_eq!(tokens().check("pay", &token, &eve), other);
        assert_eq!(tokens().check("pay", &token, &Caller::local()), other);
        assert_eq!(
            tokens().check("in", &token, &ada),
            Err(LinkTokenError::Unknown)
        );
        let strangers = LinkTokens::new(&[8; 32]).unwrap();
        assert_eq!(
            strangers.check("pay", &token, &ada),
            Err(LinkTokenError::Unknown)
        );
        let late = tokens().ttl(Duration::ZERO);
        let gone = late.keys.open(
            &late.issue("pay", &ada).unwrap(),
            &binding("pay", &ada),
            now() + 1000,
        );
        assert!(matches!(gone, Err(BadState::Expired { .. })));
    }

    #[test]
    fn a_token_tells_nothing_and_fits_into_a_url() {
        let token = tokens().issue("pay", &Caller::new("ada")).unwrap();
        let is_plain = |one: u8| one.is_ascii_alphanumeric() || b"-_.~".contains(&one);
        assert!(token.bytes().all(is_plain), "{token}");
        assert!(!token.contains("ada"));
        assert!(token.len() < MAX_BYTES / 2, "{}", token.len());
        for text in ["", "x", &"x".repeat(MAX_BYTES + 1), &token[1..]] {
            let checked = tokens().check("pay", text, &Caller::new("ada"));
            assert_eq!(checked, Err(LinkTokenError::Unknown));
        }
        assert!(!format!("{:?}", tokens()).contains('7'));
    }
}
