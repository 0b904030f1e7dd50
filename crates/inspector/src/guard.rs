//! Access control: only the page that this process opened on this machine has access.

use http::{HeaderMap, StatusCode, header};

use super::{
    answer::{self, Answer},
    random,
};

/// The random bytes of the key, so that it cannot be guessed.
const TOKEN_BYTES: usize = 32;

/// The key of this launch. It is never logged.
pub(super) struct Token(String);

impl Token {
    /// Creates a new key.
    ///
    /// # Errors
    /// If the operating system provides no random bytes.
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        random::hexadecimal::<TOKEN_BYTES>().map(Self)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Compares keys in constant time.
    fn is(&self, other: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let differs = own
            .iter()
            .zip(other)
            .fold(0, |differs, (own, other)| differs | (own ^ other));
        own.len() == other.len() && differs == 0
    }
}

/// The guard of one port.
pub(super) struct Guard {
    pub(super) token: Token,
    pub(super) port: u16,
}

impl Guard {
    /// Rejects requests that reached this port by another host name, or from another page.
    ///
    /// A foreign DNS name that points to this machine is rejected because of its `Host`, and a
    /// foreign page because of its `Origin`.
    pub(super) fn check(&self, headers: &HeaderMap) -> Result<(), Box<Answer>> {
        let host = headers.get(header::HOST).map(http::HeaderValue::as_bytes);
        if !host.is_some_and(|host| self.is_own(host)) {
            return Err(refuse("the Host header must be 127.0.0.1 or localhost"));
        }
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let is_own = |origin: &[u8]| {
            let host = origin.strip_prefix(b"http://");
            host.is_some_and(|host| self.is_own(host))
        };
        if !origins.all(|origin| is_own(origin.as_bytes())) {
            return Err(refuse("requests of other pages are not allowed"));
        }
        Ok(())
    }

    /// Rejects requests without the key of this launch.
    pub(super) fn check_token(&self, headers: &HeaderMap) -> Result<(), Box<Answer>> {
        let given = headers.get(header::AUTHORIZATION);
        let given = given.and_then(|given| given.as_bytes().strip_prefix(b"Bearer "));
        if given.is_some_and(|given| self.token.is(given)) {
            return Ok(());
        }
        Err(Box::new(answer::wrong(
            StatusCode::UNAUTHORIZED,
            "the key of this launch is missing or wrong; open the URL that `turnbuckle` printed",
        )))
    }

    fn is_own(&self, host: &[u8]) -> bool {
        let names = ["127.0.0.1", "localhost", "[::1]"];
        names
            .iter()
            .any(|name| host.eq_ignore_ascii_case(format!("{name}:{}", self.port).as_bytes()))
    }
}

#[expect(
    clippy::unnecessary_box_returns,
    reason = "it is an error, and errors are small"
)]
fn refuse(reason: &str) -> Box<Answer> {
    Box::new(answer::wrong(StatusCode::FORBIDDEN, reason))
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn status(given: &[(&str, &str)]) -> Option<u16> {
        let guard = Guard {
            token: Token("secret".to_owned()),
            port: 7251,
        };
        let headers: HeaderMap = given
            .iter()
            .map(|(name, value)| {
                let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
                (name, HeaderValue::from_str(value).unwrap())
            })
            .collect();
        let checked = guard
            .check(&headers)
            .and_then(|()| guard.check_token(&headers));
        checked.err().map(|answer| answer.status().as_u16())
    }

    #[test]
    fn only_the_page_is_admitted() {
        let key = ("authorization", "Bearer secret");
        let host = ("host", "127.0.0.1:7251");
        assert_eq!(status(&[host, key]), None);
        assert_eq!(status(&[("host", "LOCALHOST:7251"), key]), None);
        assert_eq!(
            status(&[host, key, ("origin", "http://127.0.0.1:7251")]),
            None
        );
        for wrong in [
            "evil.example:7251",
            "127.0.0.1",
            "127.0.0.1:7252",
            "127.0.0.1:7251.evil",
        ] {
            assert_eq!(status(&[("host", wrong), key]), Some(403), "{wrong}");
        }
        for wrong in [
            "null",
            "https://127.0.0.1:7251",
            "http://evil.example",
            "http://127.0.0.1:80",
        ] {
            assert_eq!(
                status(&[host, key, ("origin", wrong)]),
                Some(403),
                "{wrong}"
            );
        }
        for wrong in ["Bearer", "Bearer secreT", "Bearer secret1", "Basic secret"] {
            assert_eq!(
                status(&[host, ("authorization", wrong)]),
                Some(401),
                "{wrong}"
            );
        }
        assert_eq!(status(&[host]), Some(401));
        assert_eq!(status(&[key]), Some(403));
    }
}
