//! The peer of a connection.

use std::net::SocketAddr;

/// The client of a connection. Every request from our listener has one in its extensions; if another
/// server runs the service, a layer can add one.
///
/// Behind a proxy this is the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer {
    origin: Origin,
    is_encrypted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Origin {
    Tcp(SocketAddr),
    #[cfg(unix)]
    Unix(Option<u32>),
}

impl Peer {
    /// Creates a client with this address, over a connection without TLS.
    pub fn tcp(address: SocketAddr) -> Self {
        Self {
            origin: Origin::Tcp(address),
            is_encrypted: false,
        }
    }

    /// Returns the same connection with this address of the client: for a proxy that reports the
    /// address.
    pub fn at(mut self, address: SocketAddr) -> Self {
        self.origin = Origin::Tcp(address);
        self
    }

    #[cfg(unix)]
    pub(super) fn unix(user: Option<u32>) -> Self {
        Self {
            origin: Origin::Unix(user),
            is_encrypted: false,
        }
    }

    #[cfg(feature = "tls")]
    pub(in crate::http) fn encrypted(mut self) -> Self {
        self.is_encrypted = true;
        self
    }

    /// Returns the address, if the connection came over TCP.
    pub fn address(&self) -> Option<SocketAddr> {
        match self.origin {
            Origin::Tcp(address) => Some(address),
            #[cfg(unix)]
            Origin::Unix(_) => None,
        }
    }

    /// Returns the user id of the client's process, if the connection came over a Unix socket.
    pub fn user(&self) -> Option<u32> {
        match self.origin {
            Origin::Tcp(_) => None,
            #[cfg(unix)]
            Origin::Unix(user) => user,
        }
    }

    /// Whether the connection is on this machine: loopback or a Unix socket.
    pub fn is_local(&self) -> bool {
        match self.origin {
            Origin::Tcp(address) => address.ip().to_canonical().is_loopback(),
            #[cfg(unix)]
            Origin::Unix(_) => true,
        }
    }

    /// Whether the connection is encrypted with TLS that ends here.
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_local_in_all_its_forms() {
        for (address, is_local) in [
            ("127.0.0.1:1", true),
            ("127.8.0.1:1", true),
            ("[::1]:1", true),
            ("[::ffff:127.0.0.1]:1", true),
            ("10.0.0.1:1", false),
            ("[::ffff:10.0.0.1]:1", false),
        ] {
            let peer = Peer::tcp(address.parse().unwrap());
            assert_eq!(peer.is_local(), is_local, "{address}");
            assert_eq!(peer.user(), None);
            assert!(!peer.is_encrypted());
        }
    }
}
