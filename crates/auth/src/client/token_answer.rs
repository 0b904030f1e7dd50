//! The response of a token endpoint.

use std::time::Duration;

use serde::{Deserialize, Deserializer};
use turnbuckle_transport::http::client::Address;

use super::error::shown;
use super::fetch::Answer;
use super::{AuthError, Problem, Step};
use crate::Secret;

/// 10 years: a longer lifetime is probably given in the wrong unit. The limit also prevents an overflow.
const MAX_LIFE: Duration = Duration::from_hours(10 * 365 * 24);

/// A token and the other members of the response.
#[derive(Debug, Deserialize)]
pub(crate) struct TokenAnswer {
    pub(crate) access_token: Secret,
    #[serde(default)]
    pub(crate) token_type: String,
    #[serde(default, deserialize_with = "seconds")]
    pub(crate) expires_in: Option<Duration>,
    pub(crate) refresh_token: Option<Secret>,
    pub(crate) scope: Option<String>,
    pub(crate) issued_token_type: Option<String>,
}

/// RFC 6749, 5.2.
#[derive(Default, Deserialize)]
struct Refusal {
    error: Option<String>,
    error_description: Option<String>,
}

impl TokenAnswer {
    /// Parses a response.
    ///
    /// # Errors
    /// [`AuthError`] if the response is a refusal or contains no token.
    pub(crate) fn read(step: Step, at: &Address, answer: &Answer) -> Result<Self, AuthError> {
        if !answer.status.is_success() {
            return Err(refusal(step, at, answer));
        }
        // Some servers answer 200 with an error in the body.
        if let Ok(Refusal { error: Some(_), .. }) = serde_json::from_slice(&answer.body) {
            return Err(refusal(step, at, answer));
        }
        let token: Self = answer.parse(step, at)?;
        if token.access_token.expose().is_empty() {
            let problem = Problem::Malformed("the access token is empty".to_owned());
            return Err(AuthError::new(step, problem).at(at));
        }
        Ok(token)
    }
}

/// Makes the error for a refusal, with the server's description.
pub(crate) fn refusal(step: Step, at: &Address, answer: &Answer) -> AuthError {
    let said: Refusal = serde_json::from_slice(&answer.body).unwrap_or_default();
    let problem = Problem::Refused {
        status: answer.status.as_u16(),
        error: said.error.as_deref().map(shown),
        description: said.error_description.as_deref().map(shown),
    };
    AuthError::new(step, problem).at(at)
}

/// A number of seconds. Some servers write it as a string or with a fraction.
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Whole(u64),
        Fraction(f64),
        Text(String),
        Nothing(()),
    }
    let life = match Option::<Number>::deserialize(deserializer)? {
        Some(Number::Whole(seconds)) => Some(Duration::from_secs(seconds)),
        Some(Number::Fraction(seconds)) => Duration::try_from_secs_f64(seconds).ok(),
        Some(Number::Text(text)) => text.trim().parse().ok().map(Duration::from_secs),
        Some(Number::Nothing(())) | None => None,
    };
    Ok(life.map(|life| life.min(MAX_LIFE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_may_be_written_in_several_ways() {
        for (text, seconds) in [
            ("60", Some(60)),
            ("\"60\"", Some(60)),
            ("60.5", Some(60)),
            ("null", None),
            ("-1", None),
            ("\"soon\"", None),
            ("18446744073709551615", Some(MAX_LIFE.as_secs())),
        ] {
            let json = format!(r#"{{"access_token":"t","expires_in":{text}}}"#);
            let token: TokenAnswer = serde_json::from_str(&json).unwrap();
            assert_eq!(
                token.expires_in.map(|life| life.as_secs()),
                seconds,
                "{text}"
            );
        }
    }
}
