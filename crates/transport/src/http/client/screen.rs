//! Restricts the machines that may be connected to. Checking host names is not enough: the owner of a
//! name can let it resolve to a machine inside a private network. So the resolved addresses are
//! checked.

use std::fmt;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

use super::BoxError;

/// Returns whether connections to this address are allowed.
pub(super) type AddressFilter = Arc<dyn Fn(IpAddr) -> bool + Send + Sync>;

/// A host was not connected to, because none of its addresses are allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{host}` resolves to {address}, and connections to that address are not allowed")]
#[non_exhaustive]
pub struct AddressNotAllowed {
    /// The host, as it was written.
    pub host: String,
    /// One of its addresses that is not allowed.
    pub address: IpAddr,
}

/// Resolves names, and returns only allowed addresses.
#[derive(Clone)]
pub(super) struct FilteringResolver {
    resolver: GaiResolver,
    screen: AddressFilter,
}

impl FilteringResolver {
    pub(super) fn new(screen: AddressFilter) -> Self {
        Self {
            resolver: GaiResolver::new(),
            screen,
        }
    }
}

/// Checks a host that is an address literal, which is not resolved.
pub(super) fn check_literal(screen: &AddressFilter, host: &str) -> Result<(), AddressNotAllowed> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) if !screen(address) => Err(AddressNotAllowed {
            host: host.to_owned(),
            address,
        }),
        _ => Ok(()),
    }
}

fn only_allowed(
    host: &str,
    found: impl Iterator<Item = SocketAddr>,
    screen: &AddressFilter,
) -> Result<Vec<SocketAddr>, AddressNotAllowed> {
    let (allowed, refused): (Vec<_>, Vec<_>) = found.partition(|found| screen(found.ip()));
    match refused.first() {
        Some(refused) if allowed.is_empty() => Err(AddressNotAllowed {
            host: host.to_owned(),
            address: refused.ip(),
        }),
        _ => Ok(allowed),
    }
}

impl Service<Name> for FilteringResolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let screen = self.screen.clone();
        let host = name.as_str().to_owned();
        let found = self.resolver.call(name);
        Box::pin(async move { Ok(only_allowed(&host, found.await?, &screen)?.into_iter()) })
    }
}

impl fmt::Debug for FilteringResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilteringResolver").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_private() -> AddressFilter {
        Arc::new(|address| !matches!(address, IpAddr::V4(address) if address.is_private()))
    }

    #[test]
    fn a_name_keeps_the_addresses_that_are_allowed() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let both = [address("10.0.0.1:0"), address("192.0.2.1:0")];
        let allowed = only_allowed("h", both.into_iter(), &not_private()).unwrap();
        assert_eq!(allowed, [address("192.0.2.1:0")]);
        let inside = [address("10.0.0.1:0")];
        let refused = only_allowed("h", inside.into_iter(), &not_private()).unwrap_err();
        assert_eq!((&*refused.host, refused.address), ("h", inside[0].ip()));
        assert_eq!(
            only_allowed("h", [].into_iter(), &not_private()),
            Ok(vec![])
        );
    }

    #[test]
    fn a_host_that_is_an_address_is_checked_too() {
        assert!(check_literal(&not_private(), "10.0.0.1").is_err());
        assert!(check_literal(&not_private(), "192.0.2.1").is_ok());
        assert!(check_literal(&not_private(), "[::1]").is_ok());
        assert!(check_literal(&not_private(), "10.example.com").is_ok());
    }
}
