//! Loopback hosts.

use std::net::IpAddr;

/// Whether a host can only be this machine. `host` is written as in a URL or a `Host` header, without a port.
///
/// Loopback hosts are `localhost`, all of 127.0.0.0/8, `::1`, and the IPv4 loopback addresses mapped to
/// IPv6. A name that merely begins like one of these is not. IPv6 addresses may be in brackets.
pub fn is_loopback(host: &str) -> bool {
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    host.eq_ignore_ascii_case("localhost")
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_this_machine_is_loopback() {
        for (host, expected) in [
            ("localhost", true),
            ("LocalHost", true),
            ("127.0.0.1", true),
            ("127.8.0.1", true),
            ("::1", true),
            ("[::1]", true),
            ("[::ffff:127.0.0.1]", true),
            ("", false),
            ("[localhost]", false),
            ("[::1", false),
            ("localhost.example", false),
            ("127.0.0.1.example", false),
            ("127.1", false),
            ("0.0.0.0", false),
            ("10.0.0.1", false),
            ("[::ffff:10.0.0.1]", false),
        ] {
            assert_eq!(is_loopback(host), expected, "{host}");
        }
    }
}
