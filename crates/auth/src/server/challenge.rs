//! The header `WWW-Authenticate`, which tells clients what the server requires (RFC 6750, RFC 9449).

use std::fmt::Write as _;

use http::HeaderValue;

/// How a token is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Bearer,
    Dpop,
}

/// A challenge under construction.
#[derive(Clone, Debug)]
pub(super) struct Challenge(String);

impl Challenge {
    pub(super) fn new(scheme: Scheme) -> Self {
        Self(match scheme {
            Scheme::Bearer => "Bearer".into(),
            Scheme::Dpop => "DPoP".into(),
        })
    }

    /// Adds a parameter. Characters that are not allowed in it (RFC 6750, 3) are left out.
    pub(super) fn with(mut self, name: &str, value: &str) -> Self {
        let comma = if self.0.contains('=') { "," } else { "" };
        let is_allowed = |c: &char| matches!(*c, ' '..='~') && !matches!(c, '"' | '\\');
        let value: String = value.chars().filter(is_allowed).collect();
        // Writing to a String cannot fail.
        let _ = write!(self.0, "{comma} {name}=\"{value}\"");
        self
    }

    pub(super) fn to_header(&self) -> HeaderValue {
        // The text contains only visible ASCII characters and blanks.
        HeaderValue::from_str(&self.0).unwrap_or(HeaderValue::from_static("Bearer"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_cannot_break_out_of_their_quotes() {
        let challenge = Challenge::new(Scheme::Bearer)
            .with("error", "invalid_token")
            .with("error_description", "a \"b\"\r\nX: \\ c — d");
        assert_eq!(
            challenge.to_header(),
            "Bearer error=\"invalid_token\", error_description=\"a bX:  c  d\""
        );
        assert_eq!(Challenge::new(Scheme::Dpop).to_header(), "DPoP");
    }
}
