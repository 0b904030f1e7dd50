//! The addresses that commands listen at, and the hosts and origins that they accept.

use std::net::Ipv6Addr;

use http::Uri;
use turnbuckle::transport::http::{BindError, Listener};
use turnbuckle_command_line::failure::{Code, Failed, Outcome};

/// Listens at an address that the user wrote.
///
/// # Errors
/// A usage error if the text is not an address, otherwise an error with a hint.
pub(crate) async fn bind(address: &str) -> Outcome<Listener> {
    Listener::bind(address.to_owned()).await.map_err(explain)
}

fn explain(error: BindError) -> Failed {
    use std::io::ErrorKind;

    let cause = match &error {
        BindError::Address { source, .. } => Some((source.kind(), source.raw_os_error())),
        _ => None,
    };
    match cause {
        // Not an error of the operating system: the text is not an address, or its host is unknown.
        Some((_, None)) => Failed::usage(error).hint("write HOST:PORT, such as 127.0.0.1:7250"),
        Some((ErrorKind::AddrInUse, _)) => Failed::new(Code::Connect, error).hint(
            "a program uses this port already; choose another one, or port 0 for any free port",
        ),
        Some((ErrorKind::PermissionDenied, _)) => Failed::new(Code::Connect, error)
            .hint("ports below 1024 need privileges; choose a higher port"),
        Some((ErrorKind::AddrNotAvailable, _)) => Failed::usage(error)
            .hint("this machine does not have the address; 0.0.0.0 means all of its addresses"),
        _ => Failed::new(Code::Connect, error),
    }
}

/// Parses an origin: a scheme and a host, and a port if it is not the scheme's default.
pub(crate) fn origin(text: &str) -> Result<String, String> {
    let is_scheme = |scheme: &str| {
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_allowed)
    };
    let is_host = |host: &str| {
        let is_wrong = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '@' | '*');
        !host.is_empty() && !host.contains(is_wrong)
    };
    // Browsers send `null` for pages without an origin.
    let is_origin = text == "null"
        || text
            .split_once("://")
            .is_some_and(|(scheme, host)| is_scheme(scheme) && is_host(host));
    if is_origin {
        Ok(text.to_owned())
    } else {
        Err("it must be an origin, such as https://app.example".to_owned())
    }
}

/// Parses a host that requests may name: a host name or an IP address, with a port if only this port is accepted.
pub(crate) fn host(text: &str) -> Result<String, String> {
    if is_host(text) {
        Ok(text.to_owned())
    } else {
        Err("it must be a host, such as mcp.example or mcp.example:8443; IPv6 addresses are in brackets, and \
             international names begin with `xn--`"
            .to_owned())
    }
}

/// Parses the URL at which clients reach the program from outside, for example through a proxy.
pub(crate) fn public_url(text: &str) -> Result<String, String> {
    let url = text.parse::<Uri>().ok();
    let is_web = |url: &Uri| matches!(url.scheme_str(), Some("http" | "https"));
    let authority = url
        .as_ref()
        .filter(|url| is_web(url))
        .and_then(Uri::authority);
    if authority.is_some_and(|it| is_host(it.as_str())) && !text.contains(['?', '#']) {
        Ok(text.to_owned())
    } else {
        Err(
            "it must be an http or https URL without a query, such as https://mcp.example"
                .to_owned(),
        )
    }
}

fn is_host(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !text.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    };
    let is_number = |port: &str| port.chars().all(|digit| digit.is_ascii_digit());
    let is_port =
        port.is_none_or(|port| is_number(port) && port.parse::<u16>().is_ok_and(|it| it > 0));
    let in_brackets = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let is_label = |label: &str| {
        let is_allowed =
            |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        !label.is_empty() && label.chars().all(is_allowed)
    };
    let is_name = match in_brackets {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => host
            .strip_suffix('.')
            .unwrap_or(host)
            .split('.')
            .all(is_label),
    };
    is_port && is_name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_no_scheme_no_path_and_no_wildcard() {
        for text in [
            "mcp.example",
            "mcp.example:8443",
            "10.0.0.1",
            "[::1]:80",
            "box",
        ] {
            assert_eq!(host(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "http://mcp.example/",
            "mcp.example/",
            "*.example",
            "*",
            "me@mcp.example",
            "mcp.example:",
            "mcp.example:http",
            "mcp.example:70000",
            "a b",
            ":80",
            "mcp.example:0",
            "mcp.example:+80",
            "::1",
            "[]",
            "[x]:80",
            "a[b]",
            "a,b",
            "a..b",
            "münchen.example",
        ] {
            assert!(host(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_public_url_is_one_that_browsers_can_open() {
        for text in [
            "https://mcp.example",
            "https://mcp.example/gateway/",
            "http://10.0.0.1:7250",
            "HTTPS://mcp.example",
        ] {
            assert_eq!(public_url(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "mcp.example",
            "/mcp",
            "ftp://mcp.example",
            "https://",
            "https://me:secret@mcp.example",
            "https://mcp.example?x=1",
            "https://mcp.example#x",
            "https://mcp.example:port",
        ] {
            assert!(public_url(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_origin_has_a_scheme_and_a_host_and_no_path() {
        for text in [
            "https://app.example",
            "http://[::1]:3000",
            "vscode-webview://abc",
            "null",
        ] {
            assert_eq!(origin(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "foo",
            "app.example",
            "https://",
            "://x",
            "https://app.example/",
            "https://me@app.example",
            "https://*.example",
        ] {
            assert!(origin(text).is_err(), "{text}");
        }
    }
}
