//! The response that the user's browser brings back: a code or an error. It is checked before any
//! part of it is used and before the code is sent anywhere.

use super::error::shown;
use super::{AuthError, AuthorizationRequest, Problem, Step};
use crate::Secret;

/// The parameters of a response.
#[derive(Debug, Default)]
struct Answered {
    state: Option<Secret>,
    code: Option<Secret>,
    issuer: Option<String>,
    error: Option<String>,
    description: Option<String>,
    /// The name of a parameter that occurs more than once, if there is one.
    repeated: Option<&'static str>,
}

impl Answered {
    /// Parses a URL, or its query alone.
    fn parse(text: &str) -> Self {
        let text = text.trim();
        let query = text.split_once('?').map_or(text, |(_, query)| query);
        let query = query.split('#').next().unwrap_or_default();
        let mut answered = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.into_owned();
            let repeated = match &*name {
                "state" => answered.state.replace(value.into()).map(|_| "state"),
                "code" => answered.code.replace(value.into()).map(|_| "code"),
                "iss" => answered.issuer.replace(value).map(|_| "iss"),
                "error" => answered.error.replace(value).map(|_| "error"),
                "error_description" => answered
                    .description
                    .replace(value)
                    .map(|_| "error_description"),
                _ => None,
            };
            answered.repeated = answered.repeated.or(repeated);
        }
        answered
    }
}

impl AuthorizationRequest {
    /// Whether this URL or query is the response to this request: its `state` must be the one that
    /// was sent. Any program on the machine can connect to the port, so ignore other requests. The
    /// other parameters are checked later.
    pub fn is_answered_by(&self, url: &str) -> bool {
        let answered = Answered::parse(url);
        answered.state.as_ref() == Some(self.state())
    }
}

/// Whether the authorization server announces that it includes `iss` in its responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    Promised,
    NotPromised,
}

/// Checks a response, and returns the code.
///
/// # Errors
/// [`AuthError`] if the response does not belong to this request, comes from another issuer, or is
/// an error.
pub(crate) fn check(
    text: &str,
    request: &AuthorizationRequest,
    naming: Naming,
) -> Result<Secret, AuthError> {
    let answered = Answered::parse(text);
    // RFC 6749, 3.1: parameters must not be included more than once.
    if let Some(name) = answered.repeated {
        let problem = Problem::Malformed(format!("the parameter `{name}` appears more than once"));
        return Err(error(problem, request).rule("RFC 6749, 3.1"));
    }
    // Check the issuer first: not even the error of another issuer's response may be read.
    check_issuer(&answered, request, naming)?;
    check_state(&answered, request)?;
    if let Some(name) = answered.error {
        let problem = Problem::Refused {
            status: 0,
            error: Some(shown(&name)),
            description: answered.description.as_deref().map(shown),
        };
        let hint = match &*name {
            "access_denied" => "consent was not given; sign in again to be asked again",
            "invalid_scope" => {
                "the authorization server does not grant the scopes that the server requires"
            }
            _ => "the authorization server's administrator can tell more",
        };
        return Err(error(problem, request).hint(hint));
    }
    answered.code.ok_or_else(|| {
        let problem = Problem::Malformed("the response has neither `code` nor `error`".to_owned());
        error(problem, request).hint("paste the whole address of the page where the browser ended")
    })
}

/// authorization, "Authorization Response Validation": compared as text, without normalising.
fn check_issuer(
    answered: &Answered,
    request: &AuthorizationRequest,
    naming: Naming,
) -> Result<(), AuthError> {
    const RULE: &str = "RFC 9207, 2.4";
    const HINT: &str = "two authorization servers may have been mixed up; the code was not used";
    match &answered.issuer {
        Some(issuer) if issuer == request.issuer() => Ok(()),
        Some(issuer) => {
            let problem = Problem::Mismatch {
                what: "the issuer",
                expected: request.issuer().to_owned(),
                found: shown(issuer),
            };
            Err(error(problem, request).rule(RULE).hint(HINT))
        }
        None if naming == Naming::NotPromised => Ok(()),
        None => {
            let reason =
                "`iss` is missing, although the authorization server declares that it sends it";
            Err(error(Problem::Malformed(reason.to_owned()), request)
                .rule(RULE)
                .hint(HINT))
        }
    }
}

fn check_state(answered: &Answered, request: &AuthorizationRequest) -> Result<(), AuthError> {
    if answered.state.as_ref() == Some(request.state()) {
        return Ok(());
    }
    let reason = "`state` differs from that of the authorization request";
    Err(error(Problem::Malformed(reason.to_owned()), request)
        .rule("authorization, \"state\"")
        .hint("use the address of the newest sign-in, or sign in again"))
}

fn error(problem: Problem, request: &AuthorizationRequest) -> AuthError {
    AuthError::new(Step::AuthorizationResponse, problem).at(request.endpoint())
}

#[cfg(test)]
mod tests {
    use turnbuckle_transport::http::client::Address;

    use super::super::Scopes;
    use super::super::authorization_request::Question;
    use super::super::pkce::Pkce;
    use super::*;

    fn request() -> AuthorizationRequest {
        AuthorizationRequest::new(&Question {
            endpoint: "https://as.example/authorize",
            issuer: "https://as.example",
            server: &Address::parse("https://host/mcp").unwrap(),
            client_id: "me",
            redirect_uri: "http://127.0.0.1:1/callback",
            scopes: &Scopes::default(),
            resource: None,
            pkce: &Pkce::new(),
            key_thumbprint: None,
        })
        .unwrap()
    }

    // rule: A14
    /// A14: the table of the specification, and exact comparison.
    #[test]
    fn the_issuer_is_compared_as_text_whenever_it_is_there() {
        use Naming::{NotPromised, Promised};
        let request = request();
        let state = request.state().expose();
        for (iss, naming, is_taken) in [
            ("&iss=https%3A%2F%2Fas.example", Promised, true),
            ("&iss=https%3A%2F%2Fas.example", NotPromised, true),
            ("", NotPromised, true),
            ("", Promised, false),
            ("&iss=https%3A%2F%2Fevil.example", Promised, false),
            ("&iss=https%3A%2F%2Fevil.example", NotPromised, false),
            ("&iss=https%3A%2F%2Fas.example%2F", Promised, false),
            ("&iss=https%3A%2F%2FAS.example", NotPromised, false),
            ("&iss=https%3A%2F%2Fas.example%3A443", NotPromised, false),
            ("&iss=", NotPromised, false),
        ] {
            let url = format!("http://127.0.0.1:1/callback?code=c0de&state={state}{iss}");
            let checked = check(&url, &request, naming);
            assert_eq!(checked.is_ok(), is_taken, "{iss} {naming:?}");
            if let Err(error) = checked {
                assert!(!error.to_string().contains("c0de"), "{error}");
            }
        }
    }

    /// A14: on a mismatch, the error must not be acted on or displayed.
    #[test]
    fn an_error_in_a_foreign_response_is_not_shown() {
        let request = request();
        let state = request.state().expose();
        let query =
            format!("error=evil_error&error_description=call+us&state={state}&iss=https://evil");
        let error = check(&query, &request, Naming::NotPromised)
            .unwrap_err()
            .to_string();
        assert!(
            !error.contains("evil_error") && !error.contains("call us"),
            "{error}"
        );
        let query = format!("error=access_denied&error_description=no&state={state}");
        let error = check(&query, &request, Naming::NotPromised).unwrap_err();
        assert_eq!(error.oauth_error(), Some("access_denied"));
    }

    /// A20.
    #[test]
    fn a_wrong_or_missing_state_is_refused() {
        let request = request();
        for query in ["?code=c", "?code=c&state=", "?code=c&state=other"] {
            assert!(
                check(query, &request, Naming::NotPromised).is_err(),
                "{query}"
            );
        }
        let twice = format!("?code=c&state={0}&state={0}", request.state().expose());
        let error = check(&twice, &request, Naming::NotPromised).unwrap_err();
        assert_eq!(error.broken_rule(), Some("RFC 6749, 3.1"));
    }
}
