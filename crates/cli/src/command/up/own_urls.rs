//! The URLs of this gateway itself, which a config file may contain as a server.
//!
//! Other URLs that lead to it, such as those of a proxy, cannot be recognized here; the gateway notices them when it
//! connects.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use http::Uri;
use turnbuckle_base::loopback::is_loopback;

/// The paths of the gateway below its public URL.
const PATHS: [&str; 2] = ["/mcp", "/sse"];

/// The URLs that lead to this gateway.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnUrls {
    /// The address that the gateway listens at.
    local: Option<SocketAddr>,
    /// The URL at which others reach it.
    public: Option<Uri>,
}

impl OwnUrls {
    /// The URLs of a gateway with this address and this public URL.
    pub(super) fn new(local: Option<SocketAddr>, public: Option<&str>) -> Self {
        Self {
            local,
            public: public.and_then(|url| url.parse().ok()),
        }
    }

    /// Whether a URL leads to this gateway.
    pub(super) fn has(&self, url: &str) -> bool {
        let Ok(url) = url.trim().parse::<Uri>() else {
            return false;
        };
        let (Some(host), Some(port)) = (host(&url), port(&url)) else {
            return false;
        };
        self.is_local(&url, &host, port) || self.is_public(&url, &host, port)
    }

    /// Whether the URL has the address that the gateway listens at, with any path: nothing else is there.
    fn is_local(&self, url: &Uri, host: &str, port: u16) -> bool {
        let Some(local) = self.local else {
            return false;
        };
        if url.scheme_str() != Some("http") || port != local.port() {
            return false;
        }
        let listens_at = local.ip().to_canonical();
        let Ok(named) = host.parse::<IpAddr>() else {
            let is_reached = listens_at.is_loopback() || listens_at.is_unspecified();
            return is_reached && is_loopback(host);
        };
        let named = named.to_canonical();
        if listens_at.is_unspecified() {
            // A wildcard address of IPv6 usually also accepts connections to IPv4 addresses.
            let is_reached = local.is_ipv6() || named.is_ipv4();
            return is_reached && (named.is_unspecified() || is_of_this_machine(named));
        }
        named == listens_at || (named.is_unspecified() && listens_at.is_loopback())
    }

    /// Whether the URL is a path of the gateway under its public URL.
    fn is_public(&self, url: &Uri, host: &str, port: u16) -> bool {
        let Some(public) = &self.public else {
            return false;
        };
        let is_there = url.scheme_str() == public.scheme_str()
            && self::host(public).as_deref() == Some(host)
            && self::port(public) == Some(port);
        let base = public.path().trim_end_matches('/');
        let path = url.path().trim_end_matches('/');
        let below = path.strip_prefix(base);
        is_there && below.is_some_and(|below| below.is_empty() || PATHS.contains(&below))
    }
}

/// The host in lower case, without the brackets of an IPv6 address and the trailing dot of a full name.
fn host(url: &Uri) -> Option<String> {
    let host = url.host()?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    Some(bare.trim_end_matches('.').to_ascii_lowercase())
}

fn port(url: &Uri) -> Option<u16> {
    url.port_u16().or_else(|| match url.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    })
}

/// Whether an address belongs to this machine: only such an address can be bound.
fn is_of_this_machine(address: IpAddr) -> bool {
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listening(at: &str) -> OwnUrls {
        OwnUrls::new(Some(at.parse().expect("an address")), None)
    }

    #[test]
    fn a_gateway_on_loopback_is_found_under_all_its_names() {
        let own = listening("127.0.0.1:7250");
        for url in [
            "http://127.0.0.1:7250/mcp",
            "http://127.0.0.1:7250/mcp/",
            "http://127.0.0.1:7250/sse",
            "http://localhost:7250/mcp",
            "http://LOCALHOST.:7250/",
            "http://[::ffff:127.0.0.1]:7250/mcp?x=1",
            "HTTP://127.0.0.1:7250/mcp",
        ] {
            assert!(own.has(url), "{url}");
        }
        for url in [
            "http://127.0.0.1:7251/mcp",
            "https://127.0.0.1:7250/mcp",
            "http://127.0.0.2:7250/mcp",
            "http://[::1]:7250/mcp",
            "http://example.com:7250/mcp",
            "http://localhost/mcp",
            "not a url",
        ] {
            assert!(!own.has(url), "{url}");
        }
        assert!(listening("[::1]:80").has("http://localhost/mcp"));
    }

    #[test]
    fn a_wildcard_address_is_every_address_of_this_machine() {
        let own = listening("0.0.0.0:7250");
        assert!(own.has("http://127.0.0.3:7250/mcp"));
        assert!(own.has("http://localhost:7250/mcp"));
        assert!(!own.has("http://192.0.2.1:7250/mcp"), "of a documentation");
        let named = listening("192.0.2.1:7250");
        assert!(named.has("http://192.0.2.1:7250/sse") && !named.has("http://localhost:7250/mcp"));
    }

    #[test]
    fn the_public_url_is_the_gateway_too() {
        let own = OwnUrls::new(None, Some("https://tools.example/gateway/"));
        assert!(own.has("https://tools.example/gateway/mcp"));
        assert!(own.has("https://Tools.example:443/gateway/sse/"));
        assert!(own.has("https://tools.example/gateway"));
        assert!(!own.has("https://tools.example/other/mcp"));
        assert!(!own.has("https://tools.example/gateway/mcp/more"));
        assert!(!own.has("http://tools.example/gateway/mcp"));
        assert!(!OwnUrls::default().has("http://127.0.0.1:7250/mcp"));
    }
}
