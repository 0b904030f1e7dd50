//! The checks of `Host` and `Origin`.
//!
//! Any web page can make a browser send requests to a server on the same machine, and with DNS
//! rebinding it can even read the answers. Such requests are recognized by the names in `Host` and
//! `Origin`.

use http::{HeaderMap, HeaderName, StatusCode, Uri, header};

use turnbuckle_base::loopback;

use super::{
    header_name::LAST_EVENT_ID,
    settings::{AllowList, HttpSettings},
};

/// The reason why a request is rejected, with the setting that would allow it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refused {
    #[error(
        "host `{0}` is not allowed; if it is this server's, add it with `HttpSettings::allow_host` (`--allow-host` on the command line)"
    )]
    Host(String),
    #[error("the request has no `Host` header")]
    NoHost,
    #[error(
        "origin `{0}` is not allowed; if it is yours, add it with `HttpSettings::allow_origin` (`--allow-origin` on the command line)"
    )]
    Origin(String),
    #[error("duplicate header `{0}`; send it once")]
    Twice(HeaderName),
}

impl Refused {
    /// The HTTP status of the answer.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            // streamable-http: a request with an invalid Origin MUST get 403.
            Self::Host(_) | Self::Origin(_) => StatusCode::FORBIDDEN,
            Self::NoHost | Self::Twice(_) => StatusCode::BAD_REQUEST,
        }
    }
}

/// Checks the `Host` and `Origin` of a request.
pub(super) fn check(
    settings: &HttpSettings,
    headers: &HeaderMap,
    uri: &Uri,
) -> Result<(), Refused> {
    check_repeated(headers)?;
    if let AllowList::These(hosts) = &settings.hosts {
        check_host(hosts, headers, uri)?;
    }
    match headers.get(header::ORIGIN) {
        None => Ok(()),
        Some(origin) if is_allowed_origin(settings, origin.as_bytes()) => Ok(()),
        Some(origin) => Err(Refused::Origin(
            String::from_utf8_lossy(origin.as_bytes()).into_owned(),
        )),
    }
}

/// Rejects repeated headers: a proxy may have used the first value, and this server would use the
/// second. Headers that mirror the body are checked when the body is read.
fn check_repeated(headers: &HeaderMap) -> Result<(), Refused> {
    // The map counts them itself, so this costs nothing if no header is repeated.
    if headers.len() == headers.keys_len() {
        return Ok(());
    }
    let is_decisive = |name: &HeaderName| {
        [header::HOST, header::ORIGIN, header::CONTENT_TYPE].contains(name)
            || *name == LAST_EVENT_ID
    };
    let repeated = |name: &&HeaderName| headers.get_all(*name).iter().nth(1).is_some();
    match headers
        .keys()
        .filter(|name| is_decisive(name))
        .find(repeated)
    {
        Some(name) => Err(Refused::Twice(name.clone())),
        None => Ok(()),
    }
}

fn check_host(hosts: &[String], headers: &HeaderMap, uri: &Uri) -> Result<(), Refused> {
    // HTTP/2 has the host in the URI, HTTP/1.1 in a header.
    let host = match (uri.authority(), headers.get(header::HOST)) {
        (Some(authority), _) => authority.as_str().as_bytes(),
        (None, Some(host)) => host.as_bytes(),
        (None, None) => return Err(Refused::NoHost),
    };
    let is_allowed = is_loopback(without_port(host))
        || hosts.iter().any(|allowed| {
            allowed.as_bytes().eq_ignore_ascii_case(host)
                || allowed.as_bytes().eq_ignore_ascii_case(without_port(host))
        });
    if is_allowed {
        Ok(())
    } else {
        Err(Refused::Host(String::from_utf8_lossy(host).into_owned()))
    }
}

/// Whether pages of this origin may send requests.
pub(super) fn is_allowed_origin(settings: &HttpSettings, origin: &[u8]) -> bool {
    let AllowList::These(origins) = &settings.origins else {
        return true;
    };
    let host = origin
        .strip_prefix(b"http://")
        .or_else(|| origin.strip_prefix(b"https://"));
    host.is_some_and(|host| is_loopback(without_port(host)))
        || origins
            .iter()
            .any(|allowed| allowed.as_bytes().eq_ignore_ascii_case(origin))
}

/// Removes the port from a host. A host without a port, or with something else after the colon, is
/// returned unchanged.
fn without_port(host: &[u8]) -> &[u8] {
    let Some(colon) = host.iter().rposition(|byte| *byte == b':') else {
        return host;
    };
    let (name, port) = (&host[..colon], &host[colon + 1..]);
    // The colons of an IPv6 address in brackets do not separate a port.
    if name.starts_with(b"[") != name.ends_with(b"]") || !port.iter().all(u8::is_ascii_digit) {
        return host;
    }
    name
}

/// Whether a host is a name of this machine.
fn is_loopback(host: &[u8]) -> bool {
    std::str::from_utf8(host).is_ok_and(loopback::is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(settings: &HttpSettings, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        check(settings, &headers, &Uri::from_static("/mcp")).is_ok()
    }

    #[test]
    fn loopback_is_let_in_and_strangers_are_not() {
        let closed = HttpSettings::default();
        for host in [
            "localhost",
            "LOCALHOST:80",
            "127.0.0.1:7250",
            "127.9.9.9",
            "[::1]:7250",
        ] {
            assert!(verdict(&closed, host, None), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "[::1].evil.example",
            "[::1]evil.example:80",
            "localhost:80.evil.example",
            "localhost:80:80",
            "",
            "0",
        ] {
            assert!(!verdict(&closed, host, None), "{host}");
        }
        for origin in [
            "http://localhost:3000",
            "https://127.0.0.1",
            "http://[::1]:1",
        ] {
            assert!(verdict(&closed, "localhost", Some(origin)), "{origin}");
        }
        for origin in [
            "https://evil.example",
            "null",
            "http://localhost.evil.example",
            "http://localhost:1@evil.example",
            "http://[::1].evil.example",
            "file://",
        ] {
            assert!(!verdict(&closed, "localhost", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn what_is_allowed_is_let_in() {
        let open = HttpSettings::default()
            .allow_host("mcp.example.com")
            .allow_origin("https://app.example.com");
        assert!(verdict(
            &open,
            "mcp.example.com:443",
            Some("https://app.example.com")
        ));
        assert!(!verdict(&open, "mcp.example.com.evil.example", None));
        assert!(!verdict(
            &open,
            "mcp.example.com",
            Some("https://app.example.com.evil.example")
        ));
        assert!(verdict(
            &HttpSettings::default().allow_any_host(),
            "whatever",
            None
        ));
    }

    #[test]
    fn headers_that_decide_something_come_once() {
        let mut headers = HeaderMap::new();
        headers.append(header::HOST, "localhost".parse().unwrap());
        for name in ["accept", "cookie"] {
            headers.append(name, "a".parse().unwrap());
            headers.append(name, "b".parse().unwrap());
        }
        assert_eq!(check_repeated(&headers), Ok(()));
        for name in ["content-type", "origin", "last-event-id"] {
            let mut headers = headers.clone();
            headers.append(name, "a".parse().unwrap());
            headers.append(name, "a".parse().unwrap());
            assert!(
                matches!(check_repeated(&headers), Err(Refused::Twice(twice)) if twice == name)
            );
        }
    }
}
