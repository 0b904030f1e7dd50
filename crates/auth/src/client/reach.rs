//! Restricts the URLs of requests. Servers tell clients where to go next, and a malicious server
//! would send them to machines that only the client can reach (security best practices,
//! "Server-Side Request Forgery").

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use turnbuckle_transport::http::client::Address;

use super::{AuthError, Problem, Step};

/// Which addresses a server may refer a client to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Whether private networks are allowed.
    pub(crate) private: bool,
    /// Whether plain `http` to other machines is allowed.
    pub(crate) plain: bool,
}

impl Reach {
    /// Checks that the scheme of a URL is allowed.
    ///
    /// # Errors
    /// [`Problem::Forbidden`] if the URL must be `https`.
    pub(crate) fn check(self, step: Step, address: &Address) -> Result<(), AuthError> {
        if address.is_https() || self.plain || address.is_loopback() {
            return Ok(());
        }
        let reason = "the URL must be `https`, except on this machine".to_owned();
        Err(AuthError::new(step, Problem::Forbidden(reason))
            .at(address)
            .rule("security considerations, \"Communication Security\"")
            .hint("serve it over `https`, or allow plain `http` in a network that you trust"))
    }

    /// Checks that a user's browser may be sent to a URL, for a client of this server. The browser
    /// sends its requests from this machine too.
    ///
    /// # Errors
    /// [`Problem::Forbidden`] if the URL contains an address that is not allowed.
    pub(crate) fn check_visit(self, address: &Address, server: &Address) -> Result<(), AuthError> {
        self.check(Step::Authorization, address)?;
        let host = address.uri().host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let written = match host.parse() {
            Ok(found) => Some(found),
            Err(_) if address.is_loopback() => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            Err(_) => None,
        };
        let is_inside = |found| !self.passes(found, server.is_loopback());
        if address.is_same_origin(server) || !written.is_some_and(is_inside) {
            return Ok(());
        }
        let reason =
            "the sign-in page must not be on this machine or in a private network".to_owned();
        Err(
            AuthError::new(Step::Authorization, Problem::Forbidden(reason))
                .at(address)
                .rule("security best practices, \"Server-Side Request Forgery\"")
                .hint("allow private networks if the server and this machine are in the same one"),
        )
    }

    /// Whether a connection to an address is allowed, for a client of this server.
    pub(crate) fn passes(self, found: IpAddr, server_is_local: bool) -> bool {
        match kind(found) {
            AddressKind::Public => true,
            AddressKind::Loopback => self.private || server_is_local,
            AddressKind::Private => self.private,
            // Cloud providers serve credentials at a link-local address. No sign-in page is there.
            AddressKind::Never => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddressKind {
    Public,
    Loopback,
    Private,
    Never,
}

fn kind(address: IpAddr) -> AddressKind {
    match address {
        IpAddr::V4(address) => kind_v4(address),
        IpAddr::V6(address) => kind_v6(address),
    }
}

fn kind_v4(address: Ipv4Addr) -> AddressKind {
    let [a, b, c, _] = address.octets();
    if address.is_loopback() {
        AddressKind::Loopback
    } else if address.is_link_local()
        || address.is_multicast()
        || a == 0
        || a >= 240
        // Reserved for protocol assignments; the addresses of DS-Lite are internal.
        || (a, b, c) == (192, 0, 0)
    {
        AddressKind::Never
    } else if address.is_private()
        // The ranges for carrier-grade NAT and for benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b))
    {
        AddressKind::Private
    } else {
        AddressKind::Public
    }
}

fn kind_v6(address: Ipv6Addr) -> AddressKind {
    let segments = address.segments();
    // IPv6 addresses that contain an IPv4 address: IPv4-mapped, and NAT64.
    let embedded = match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some((high, low))
        }
        // IPv4-compatible addresses, the oldest form. `::` and `::1` are not among them.
        [0, 0, 0, 0, 0, 0, high, low] if (high, low) > (0, 1) => Some((high, low)),
        // 6to4 addresses have the IPv4 address near the beginning.
        [0x2002, high, low, ..] => Some((high, low)),
        _ => None,
    };
    if let Some((high, low)) = embedded {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        return kind_v4(Ipv4Addr::new(a, b, c, d));
    }
    if address.is_loopback() {
        AddressKind::Loopback
    } else if address.is_unspecified() || address.is_multicast() || address.is_unicast_link_local()
    {
        AddressKind::Never
    } else if address.is_unique_local()
        || segments[0] & 0xffc0 == 0xfec0
        // The prefix for local NAT64 translators, which may lead anywhere (RFC 8215).
        || segments[..3] == [0x64, 0xff9b, 1]
    {
        AddressKind::Private
    } else {
        AddressKind::Public
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_not_sent_inside_by_a_server_outside() {
        let address = |text| Address::parse(text).unwrap();
        let check = |reach: Reach, to, server| reach.check_visit(&address(to), &address(server));
        let (strict, open) = (
            Reach::default(),
            Reach {
                private: true,
                plain: false,
            },
        );
        let outside = "https://mcp.example/mcp";
        for inside in [
            "http://localhost:8080/delete",
            "http://127.0.0.1/",
            "https://[::1]/x",
            "https://10.0.0.1/x",
        ] {
            check(strict, inside, outside).unwrap_err();
            check(open, inside, outside).unwrap();
        }
        check(open, "https://169.254.169.254/x", outside).unwrap_err();
        for (fine, server) in [
            ("https://login.example/authorize", outside),
            ("http://localhost:9/authorize", "http://127.0.0.1:8/mcp"),
            ("https://10.0.0.1/authorize", "https://10.0.0.1/mcp"),
        ] {
            check(strict, fine, server).unwrap();
        }
    }

    #[test]
    fn addresses_inside_are_told_from_those_outside() {
        for (text, expected) in [
            ("192.0.2.1", AddressKind::Public),
            ("2606:4700::1", AddressKind::Public),
            ("127.9.9.9", AddressKind::Loopback),
            ("::1", AddressKind::Loopback),
            ("::ffff:127.0.0.1", AddressKind::Loopback),
            ("10.1.2.3", AddressKind::Private),
            ("172.31.0.1", AddressKind::Private),
            ("172.32.0.1", AddressKind::Public),
            ("192.168.0.1", AddressKind::Private),
            ("100.64.0.1", AddressKind::Private),
            ("198.19.0.1", AddressKind::Private),
            ("fd00::1", AddressKind::Private),
            ("fec0::1", AddressKind::Private),
            ("::ffff:10.0.0.1", AddressKind::Private),
            ("64:ff9b::a00:1", AddressKind::Private),
            ("2002:a00:1::", AddressKind::Private),
            ("::10.0.0.1", AddressKind::Private),
            ("::127.0.0.1", AddressKind::Loopback),
            ("::2", AddressKind::Never),
            ("64:ff9b:1::a00:1", AddressKind::Private),
            ("169.254.169.254", AddressKind::Never),
            ("::ffff:169.254.169.254", AddressKind::Never),
            ("fe80::1", AddressKind::Never),
            ("0.0.0.0", AddressKind::Never),
            ("::", AddressKind::Never),
            ("255.255.255.255", AddressKind::Never),
            ("224.0.0.1", AddressKind::Never),
        ] {
            assert_eq!(kind(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn private_networks_are_for_those_who_allow_them() {
        let [loopback, private, metadata]: [IpAddr; 3] =
            ["127.0.0.1", "10.0.0.1", "169.254.169.254"].map(|text| text.parse().unwrap());
        let usual = Reach::default();
        assert!(!usual.passes(loopback, false) && usual.passes(loopback, true));
        assert!(!usual.passes(private, true));
        let inside = Reach {
            private: true,
            ..usual
        };
        assert!(inside.passes(loopback, false) && inside.passes(private, false));
        assert!(!inside.passes(metadata, true));
    }

    #[test]
    fn only_https_is_asked_except_on_this_machine() {
        let check = |text| {
            let address = Address::parse(text).unwrap();
            Reach::default().check(Step::Token, &address).is_ok()
        };
        assert!(check("https://as.example/token"));
        assert!(check("http://localhost:1/token") && check("http://[::1]:1/token"));
        assert!(!check("http://as.example/token"));
        assert!(!check("http://localhost.example/token"));
        // These are reached through a translator or a relay, which is another machine.
        assert!(!check("http://[64:ff9b::7f00:1]/token") && !check("http://[2002:7f00:1::]/token"));
    }
}
