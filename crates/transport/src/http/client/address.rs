//! `Address`: the URL of a server.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::str::FromStr;

use http::Uri;
use http::uri::Scheme;
use turnbuckle_base::loopback::is_loopback;

/// An absolute `http` or `https` URL.
///
/// It is displayed without its query, which may contain secrets.
///
/// ```
/// use turnbuckle_transport::http::client::Address;
///
/// let base = Address::parse("https://example.com/sse?key=secret")?;
/// assert_eq!(base.to_string(), "https://example.com/sse");
/// let other = base.join("messages?session=1")?;
/// assert_eq!(other.to_string(), "https://example.com/messages");
/// assert!(other.is_same_origin(&base));
/// # Ok::<(), turnbuckle_transport::http::client::AddressError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    uri: Uri,
}

/// Why a text is not a valid address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The URL does not begin with `http://` or `https://`.
    #[error("an address must begin with `http://` or `https://`; for a program, give its command")]
    Scheme,
    /// The host is missing.
    #[error("the address has no host")]
    Host,
    /// The URL contains a user name or password.
    #[error(
        "the address has credentials in it; give them as a header or by the authorization hook"
    )]
    Credentials,
    /// The text after the host's colon is not a port number.
    #[error("`{port}` is not a port; write a number from 1 to 65535")]
    Port {
        /// The text that was found.
        port: String,
    },
    /// The address contains a character that is not allowed.
    #[error("the address cannot be read ({reason}); percent-encode characters that are not ASCII")]
    Unreadable {
        /// The error of the URL parser.
        reason: String,
    },
}

impl Address {
    /// Parses a URL. A fragment is removed, and a path or query that is not ASCII is percent-encoded.
    ///
    /// # Errors
    /// Fails if the text is not an absolute `http` or `https` URL, or contains credentials.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        let text = text.split('#').next().unwrap_or_default();
        if !has_http_scheme(text) {
            return Err(AddressError::Scheme);
        }
        let uri = Uri::from_str(&in_ascii(text)).map_err(|error| AddressError::Unreadable {
            reason: error.to_string(),
        })?;
        let authority = uri.authority().ok_or(AddressError::Host)?;
        if authority.as_str().contains('@') {
            return Err(AddressError::Credentials);
        }
        if authority.host().is_empty() {
            return Err(AddressError::Host);
        }
        // Other parsers would replace a port that is too large with the default port.
        let port = authority.as_str().strip_prefix(authority.host());
        let port = port.unwrap_or_default().trim_start_matches(':');
        if !port.is_empty() && !port.parse::<u16>().is_ok_and(|port| port > 0) {
            return Err(AddressError::Port {
                port: port.to_owned(),
            });
        }
        Ok(Self { uri })
    }

    /// Resolves a reference against this address, as browsers resolve links.
    ///
    /// # Errors
    /// Fails if the result is not a valid address.
    pub fn join(&self, reference: &str) -> Result<Self, AddressError> {
        let reference = reference.trim();
        if has_http_scheme(reference) {
            return Self::parse(reference);
        }
        let (scheme, authority) = (self.scheme(), self.authority());
        if let Some(rest) = reference.strip_prefix("//") {
            return Self::parse(&format!("{scheme}://{rest}"));
        }
        if reference.starts_with('/') {
            return Self::parse(&format!("{scheme}://{authority}{reference}"));
        }
        let path = self.uri.path();
        if reference.starts_with('?') {
            return Self::parse(&format!("{scheme}://{authority}{path}{reference}"));
        }
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let (relative, query) = match reference.split_once('?') {
            Some((relative, query)) => (relative, format!("?{query}")),
            None => (reference, String::new()),
        };
        let path = without_dots(&format!("{folder}/{relative}"));
        Self::parse(&format!("{scheme}://{authority}{path}{query}"))
    }

    /// Whether both addresses have the same scheme, host and port.
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.scheme() == other.scheme()
            && self.host().eq_ignore_ascii_case(other.host())
            && self.port() == other.port()
    }

    /// Whether the URL is `https`.
    pub fn is_https(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }

    /// Whether the host can only be this machine: `localhost`, or a loopback address.
    pub fn is_loopback(&self) -> bool {
        is_loopback(self.host())
    }

    /// Returns the whole URI with its query, to which requests are sent.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Returns the whole text with its query. Do not log it.
    pub fn to_exposed_string(&self) -> String {
        self.uri.to_string()
    }

    fn scheme(&self) -> &str {
        self.uri.scheme_str().unwrap_or_default()
    }

    fn authority(&self) -> &str {
        self.uri
            .authority()
            .map_or("", |authority| authority.as_str())
    }

    fn host(&self) -> &str {
        self.uri.host().unwrap_or_default()
    }

    fn port(&self) -> u16 {
        let usual = if self.is_https() { 443 } else { 80 };
        self.uri.port_u16().unwrap_or(usual)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}://{}{}",
            self.scheme(),
            self.authority(),
            self.uri.path()
        )
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

fn has_http_scheme(text: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        text.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

/// Percent-encodes the path and query if they are not ASCII. The host is not changed.
fn in_ascii(text: &str) -> Cow<'_, str> {
    let host = text.find("://").map_or(0, |at| at + 3);
    let end = text[host..]
        .find(['/', '?'])
        .map_or(text.len(), |at| host + at);
    if text[end..].is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut encoded = text[..end].to_owned();
    for byte in text[end..].bytes() {
        if byte.is_ascii() {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    Cow::Owned(encoded)
}

/// Removes `.` and `..` from a path.
fn without_dots(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    let mut parts = path.split('/').skip(1).peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        match part {
            "." | ".." => {
                if part == ".." {
                    segments.pop();
                }
                if is_last {
                    segments.push("");
                }
            }
            part => segments.push(part),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved_as_browsers_do() {
        let base = Address::parse("http://host:8080/a/sse?key=1").unwrap();
        for (reference, joined) in [
            ("/messages?s=1", "http://host:8080/messages?s=1"),
            ("messages?s=1", "http://host:8080/a/messages?s=1"),
            ("./messages", "http://host:8080/a/messages"),
            ("../messages", "http://host:8080/messages"),
            ("../../../messages", "http://host:8080/messages"),
            ("..", "http://host:8080/"),
            ("?s=1", "http://host:8080/a/sse?s=1"),
            ("//other/x", "http://other/x"),
            ("https://other/x", "https://other/x"),
            (" /x ", "http://host:8080/x"),
        ] {
            let found = base.join(reference).unwrap();
            assert_eq!(found.to_exposed_string(), joined, "{reference}");
        }
    }

    #[test]
    fn a_path_that_is_not_ascii_is_percent_encoded() {
        let address = Address::parse("http://host/caf\u{e9}%20/?q=\u{20ac}").unwrap();
        assert_eq!(
            address.to_exposed_string(),
            "http://host/caf%C3%A9%20/?q=%E2%82%AC"
        );
        Address::parse("http://caf\u{e9}/").unwrap_err();
    }

    #[test]
    fn origins_differ_by_scheme_host_and_port() {
        let same = |one: &str, other: &str| {
            let parse = |text| Address::parse(text).unwrap();
            parse(one).is_same_origin(&parse(other))
        };
        assert!(same("http://a/x", "http://A:80/y?q"));
        assert!(same("https://a", "https://a:443/"));
        assert!(!same("http://a/", "https://a/"));
        assert!(!same("http://a/", "http://a:81/"));
        assert!(!same("http://a/", "http://b/"));
    }

    #[test]
    fn an_invalid_address_is_refused_with_a_reason() {
        let port = |port: &str| AddressError::Port {
            port: port.to_owned(),
        };
        for (text, error) in [
            ("uvx mcp-server-git", AddressError::Scheme),
            ("ftp://host/", AddressError::Scheme),
            ("", AddressError::Scheme),
            ("http://me:secret@host/", AddressError::Credentials),
            ("http://host:99999/", port("99999")),
            ("http://[::1]:0/", port("0")),
        ] {
            assert_eq!(Address::parse(text), Err(error), "{text}");
        }
        for text in [
            "http://",
            "http:///x",
            "http://host/a b",
            "http://h\u{f6}st/",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_query_is_never_shown() {
        let address = Address::parse("https://host/mcp?token=secret#part").unwrap();
        assert_eq!(
            format!("{address} {address:?}"),
            "https://host/mcp Address(https://host/mcp)"
        );
        assert!(address.to_exposed_string().ends_with("?token=secret"));
    }
}
