//! The credentials in a request.

use http::{HeaderMap, Method, header, request::Parts};

use super::{challenge::Scheme, refusal::Denied};

/// A token as it was presented, with the request data that a proof covers.
pub(super) struct Credentials {
    pub(super) scheme: Scheme,
    pub(super) token: String,
    pub(super) proof: Option<String>,
    pub(super) method: Method,
    pub(super) path: String,
}

/// Reads the credentials of a request.
pub(super) fn read(parts: &Parts) -> Result<Credentials, Denied> {
    // OAuth 2.1, 5.1: tokens MUST NOT be in the query, because queries are logged.
    let query = parts.uri.query().unwrap_or_default();
    if query
        .split('&')
        .any(|pair| pair.split('=').next() == Some("access_token"))
    {
        return Err(Denied::Malformed(
            "the token must not be in the URL, which is logged: send it as `Authorization: Bearer`",
        ));
    }
    let twice = "duplicate `Authorization` header: send one";
    let Some(value) = only(&parts.headers, header::AUTHORIZATION.as_str(), twice)? else {
        return Err(Denied::NoToken);
    };
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    let scheme = if scheme.eq_ignore_ascii_case("Bearer") {
        Scheme::Bearer
    } else if scheme.eq_ignore_ascii_case("DPoP") {
        Scheme::Dpop
    } else {
        // Credentials of another scheme are ignored.
        return Err(Denied::NoToken);
    };
    let token = token.trim_matches(' ');
    if !is_token68(token) {
        return Err(Denied::Malformed(
            "the `Authorization` header holds no token: write `Bearer` and the token",
        ));
    }
    let twice = "duplicate `DPoP` header: send one proof";
    Ok(Credentials {
        scheme,
        token: token.to_owned(),
        proof: only(&parts.headers, "dpop", twice)?.map(str::to_owned),
        method: parts.method.clone(),
        path: parts.uri.path().to_owned(),
    })
}

/// The single header of a name.
fn only<'a>(
    headers: &'a HeaderMap,
    name: &str,
    twice: &'static str,
) -> Result<Option<&'a str>, Denied> {
    let mut all = headers.get_all(name).iter();
    let Some(value) = all.next() else {
        return Ok(None);
    };
    if all.next().is_some() {
        return Err(Denied::Malformed(twice));
    }
    let unreadable = Denied::Malformed("a header with credentials is not plain ASCII");
    value.to_str().map(Some).map_err(|_| unreadable)
}

/// Whether a text has the syntax of a token (RFC 6750, 2.1).
fn is_token68(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !body.is_empty() && body.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(uri: &str, headers: &[(&str, &str)]) -> Result<Credentials, Denied> {
        let mut request = http::Request::post(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        read(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn one_token_in_one_header() {
        let found = of("/mcp", &[("authorization", "bearer  abc.d-e_f~+/=")])
            .ok()
            .unwrap();
        assert_eq!(
            (found.scheme, found.token.as_str()),
            (Scheme::Bearer, "abc.d-e_f~+/=")
        );
        let found = of("/mcp", &[("authorization", "DPoP abc"), ("dpop", "x.y.z")]);
        assert_eq!(
            found.ok().and_then(|found| found.proof).as_deref(),
            Some("x.y.z")
        );
    }

    #[test]
    fn everything_else_is_refused() {
        let denied = |uri, headers: &[(&str, &str)]| of(uri, headers).err().unwrap();
        assert_eq!(denied("/mcp", &[]), Denied::NoToken);
        assert_eq!(
            denied("/mcp", &[("authorization", "Basic YTpi")]),
            Denied::NoToken
        );
        for uri in ["/mcp?access_token=abc", "/mcp?a=1&access_token=abc"] {
            let both = [("authorization", "Bearer abc")];
            assert!(matches!(denied(uri, &both), Denied::Malformed(_)), "{uri}");
            assert!(matches!(denied(uri, &[]), Denied::Malformed(_)), "{uri}");
        }
        for value in ["Bearer", "Bearer ", "Bearer a b", "Bearer a,b", "Bearer ="] {
            let denied = denied("/mcp", &[("authorization", value)]);
            assert!(matches!(denied, Denied::Malformed(_)), "{value}");
        }
        let twice = [("authorization", "Bearer a"), ("authorization", "Bearer b")];
        assert!(matches!(denied("/mcp", &twice), Denied::Malformed(_)));
    }
}
