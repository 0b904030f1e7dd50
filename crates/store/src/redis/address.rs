//! The address of a Redis process.

use std::fmt;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Address {
    host: Box<str>,
    port: u16,
}

impl Address {
    pub(super) fn new(host: &str, port: u16) -> Self {
        Self {
            host: host.into(),
            port,
        }
    }

    /// Parses `host`, `host:port`, `[::1]:port`, or `::1:port` as Redis writes it.
    pub(super) fn parse(text: &str, default_port: u16) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, rest) = rest.split_once(']')?;
                match rest {
                    "" => (host, None),
                    _ => (host, Some(rest.strip_prefix(':')?)),
                }
            }
            None => match text.rsplit_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let port = port.map_or(Some(default_port), |port| port.parse().ok())?;
        (!host.is_empty() && port != 0).then(|| Self::new(host, port))
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_and_redis_write_them() {
        for (text, host, port) in [
            ("cache", "cache", 6379),
            ("cache:7000", "cache", 7000),
            ("[::1]", "::1", 6379),
            ("[::1]:7000", "::1", 7000),
            ("::1:7000", "::1", 7000),
        ] {
            assert_eq!(
                Address::parse(text, 6379),
                Some(Address::new(host, port)),
                "{text}"
            );
        }
        for text in [
            "",
            ":1",
            "cache:",
            "cache:x",
            "cache:0",
            "cache:65536",
            "[::1",
            "[::1]7000",
        ] {
            assert_eq!(Address::parse(text, 6379), None, "{text}");
        }
        assert_eq!(Address::new("::1", 7000).to_string(), "[::1]:7000");
    }
}
