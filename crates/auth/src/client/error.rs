//! Errors of an authorization flow: the step, the URL, the broken rule, and advice.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use turnbuckle_transport::http::client::{Address, BoxError};

/// How many characters of a server's text are shown: a sentence or two.
const SHOWN_CHARACTERS: usize = 300;

/// Why no token could be obtained, or why a token was refused.
///
/// It says which [`step`](Self::step) failed and at which [`url`](Self::url), what was expected and
/// by which rule, and what the user can do. Its `Display` says all of this in one sentence. It
/// contains no token, code or password, so it can be logged and shown. Clones share one error:
/// calls that waited for the same sign-in fail with the same reason.
///
/// ```
/// use turnbuckle_auth::client::{AuthError, Problem};
///
/// fn explain(error: &AuthError) -> String {
///     match error.problem() {
///         Problem::Unreachable => "check the network, then try again".to_owned(),
///         Problem::Unanswered(_) => "the sign-in took too long; try again".to_owned(),
///         _ => error.advice().map_or_else(|| error.to_string(), str::to_owned),
///     }
/// }
/// ```
#[derive(Clone)]
pub struct AuthError(Arc<Details>);

struct Details {
    step: Step,
    url: Option<String>,
    problem: Problem,
    rule: Option<&'static str>,
    hint: Option<String>,
    source: Option<BoxError>,
}

/// The steps of an authorization flow, in their order. [`AuthError::step`] names the one that
/// failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// The settings contradict each other, or the `OAuth` is used with a second server. Nothing was sent.
    Setup,
    /// Finding the metadata of the protected resource (RFC 9728), which name the authorization
    /// server.
    ResourceMetadata,
    /// Finding the metadata of the authorization server (RFC 8414, or `openid-configuration`).
    ServerMetadata,
    /// Registering the client at the authorization server (RFC 7591).
    Registration,
    /// Asking the user for consent, in their browser.
    Authorization,
    /// Checking the response that the browser brought back. It may come from an attacker, so a
    /// mismatch ends the flow.
    AuthorizationResponse,
    /// Fetching a token at the token endpoint.
    Token,
    /// Renewing a token. If it fails and there is a user, the user is asked again.
    Refresh,
    /// Exchanging an identity assertion at the identity provider, or a caller's token at the
    /// authorization server.
    Exchange,
    /// Sending a token to its server.
    Use,
    /// Revoking tokens, in [`OAuth::sign_out`](super::OAuth::sign_out).
    Revocation,
    /// Loading or storing tokens in the [`TokenStore`](super::TokenStore).
    Store,
}

/// The problem behind an [`AuthError`], to match on. [`AuthError::problem`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// There was no response: the network or TLS failed, or the deadline of 30 seconds was over.
    /// Trying again may help.
    Unreachable,
    /// A URL may not be used: it is not `https`, or leads into a private network. See
    /// [`OAuth::allow_private_networks`](super::OAuth::allow_private_networks).
    Forbidden(String),
    /// The response is an error. [`AuthError::oauth_error`] returns its code.
    Refused {
        /// The HTTP status of the response, or 0 if the error came with a redirect.
        status: u16,
        /// The OAuth error code, such as `invalid_client`, if the response has one.
        error: Option<String>,
        /// The server's description of the error.
        description: Option<String>,
    },
    /// The response cannot be parsed, or lacks a required part.
    Malformed(String),
    /// A value differs from the expected one, such as the issuer in the metadata. This may be a
    /// mistake of the other side or an attack, so the flow ends.
    Mismatch {
        /// What was compared.
        what: &'static str,
        /// The expected value.
        expected: String,
        /// The value that was found.
        found: String,
    },
    /// The document was not found at any of its possible URLs.
    Missing(String),
    /// The other side does not support what is needed, such as PKCE or the configured grant.
    Unsupported(String),
    /// The user did not answer in time, or could not be asked.
    Unanswered(String),
    /// A newly granted token was refused. The server and its authorization server disagree, for
    /// example about the audience.
    StillRefused,
    /// Something on this machine failed: a key, the token store, or a port.
    Local(String),
}

impl AuthError {
    pub(crate) fn new(step: Step, problem: Problem) -> Self {
        Self(Arc::new(Details {
            step,
            url: None,
            problem,
            rule: None,
            hint: None,
            source: None,
        }))
    }

    fn with(mut self, change: impl FnOnce(&mut Details)) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            change(inner);
        }
        self
    }

    /// Sets the URL, without its query.
    pub(crate) fn at(self, address: &Address) -> Self {
        let url = address.to_string();
        self.with(|inner| inner.url = Some(url))
    }

    pub(crate) fn rule(self, rule: &'static str) -> Self {
        self.with(|inner| inner.rule = Some(rule))
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        self.with(|inner| inner.hint = Some(hint.into()))
    }

    pub(crate) fn caused_by(self, source: impl Into<BoxError>) -> Self {
        self.with(|inner| inner.source = Some(source.into()))
    }

    /// The step of the flow that failed.
    pub fn step(&self) -> Step {
        self.0.step
    }

    /// The URL that was involved, without its query; `None` if no request was involved.
    pub fn url(&self) -> Option<&str> {
        self.0.url.as_deref()
    }

    /// The problem, to match on. Use `Display` to show it.
    pub fn problem(&self) -> &Problem {
        &self.0.problem
    }

    /// The rule that the other side broke, as document and section, for a report to its operators.
    /// `None` if no rule was broken.
    pub fn broken_rule(&self) -> Option<&'static str> {
        self.0.rule
    }

    /// What the user can do about the error, as a clause. `None` if there is no advice.
    pub fn advice(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// The OAuth error code, such as `invalid_grant`, if the other side sent one.
    pub fn oauth_error(&self) -> Option<&str> {
        match &self.0.problem {
            Problem::Refused { error, .. } => error.as_deref(),
            _ => None,
        }
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Details { step, url, .. } = &*self.0;
        write!(f, "{step} failed")?;
        if let Some(url) = url {
            write!(f, " at {url}")?;
        }
        write!(f, ": {}", self.0.problem)?;
        if let Some(rule) = self.0.rule {
            write!(f, " ({rule})")?;
        }
        if let Some(hint) = &self.0.hint {
            write!(f, "; {hint}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthError")
            .field("step", &self.0.step)
            .field("url", &self.0.url)
            .field("problem", &self.0.problem)
            .field("source", &self.0.source)
            .finish_non_exhaustive()
    }
}

impl Error for AuthError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.0.source.as_deref()?;
        Some(source)
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Setup => "setting up authorization",
            Self::ResourceMetadata => "finding the protected resource's metadata",
            Self::ServerMetadata => "finding the authorization server's metadata",
            Self::Registration => "registering the client",
            Self::Authorization => "requesting authorization",
            Self::AuthorizationResponse => "checking the authorization response",
            Self::Token => "fetching a token",
            Self::Refresh => "renewing the token",
            Self::Exchange => "exchanging the identity assertion",
            Self::Use => "using the token",
            Self::Revocation => "revoking the token",
            Self::Store => "storing the tokens",
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("no answer came"),
            Self::Forbidden(reason)
            | Self::Malformed(reason)
            | Self::Missing(reason)
            | Self::Unsupported(reason)
            | Self::Unanswered(reason)
            | Self::Local(reason) => f.write_str(reason),
            Self::Refused {
                status,
                error,
                description,
            } => {
                match status {
                    0 => f.write_str("it was refused")?,
                    status => write!(f, "it was refused with status {status}")?,
                }
                if let Some(error) = error {
                    write!(f, ", `{error}`")?;
                }
                if let Some(description) = description {
                    write!(f, " (\"{description}\")")?;
                }
                Ok(())
            }
            Self::Mismatch {
                what,
                expected,
                found,
            } => write!(f, "{what} must be `{expected}`, but is `{found}`"),
            Self::StillRefused => {
                f.write_str("the server refuses a token that was just fetched for it")
            }
        }
    }
}

/// Shortens a server's text and puts it on one line, for use in an error message.
pub(crate) fn shown(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean
        .take(SHOWN_CHARACTERS)
        .collect::<String>()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_step_place_rule_and_what_to_do() {
        let at = Address::parse("https://as.example/token?key=secret").unwrap();
        let refused = Problem::Refused {
            status: 400,
            error: Some("invalid_grant".to_owned()),
            description: None,
        };
        let error = AuthError::new(Step::Token, refused)
            .at(&at)
            .rule("RFC 6749, 5.2")
            .hint("sign in again")
            .caused_by("inner");
        assert_eq!(
            error.to_string(),
            "fetching a token failed at https://as.example/token: it was refused with status 400, \
             `invalid_grant` (RFC 6749, 5.2); sign in again"
        );
        assert_eq!(error.source().unwrap().to_string(), "inner");
        assert_eq!(error.oauth_error(), Some("invalid_grant"));
    }

    #[test]
    fn what_servers_say_is_short_and_on_one_line() {
        assert_eq!(shown(" a\nb\u{1b}[31m "), "a b [31m");
        assert_eq!(shown(&"a".repeat(1000)).len(), SHOWN_CHARACTERS);
    }
}
