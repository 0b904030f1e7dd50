//! The steps to a server: through a proxy, or by its name and port, then TLS.

use std::{net::SocketAddr, time::Duration, time::Instant};

use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};
use turnbuckle::transport::http::client::{Address, AgentSettings};
use turnbuckle_base::loopback;
use turnbuckle_command_line::style::elapsed;

use super::tls;
use crate::{finding::Finding, limits::Limits, report::Report, table::connect};

/// How many addresses of a name are tried.
const MAX_ADDRESSES: usize = 8;

/// Makes the steps to the server. `None` if it cannot be reached; the report then says why.
pub(crate) async fn walk(
    report: &Report,
    settings: &AgentSettings,
    address: &Address,
    limits: Limits,
) -> Option<()> {
    warn_of_cleartext(report, address);
    let proxy = match settings.proxy_before(address) {
        Ok(proxy) => proxy,
        Err(error) => {
            report.add(Finding::of(&connect::PROXY, error.to_string()));
            return None;
        }
    };
    if let Some(proxy) = proxy {
        // The proxy resolves the name, and what is behind it cannot be seen.
        report.step(format!("connecting to the proxy {proxy}"));
        let hop = reach(&host_of(&proxy)?, limits.probe).await;
        return match hop {
            Ok(_) => {
                report.ok(&connect::PROXY, format!("through the proxy {proxy}"));
                Some(())
            }
            Err(said) => {
                let said = format!("the proxy {proxy} cannot be reached: {said}");
                report.add(Finding::of(&connect::PROXY, said).seen_all(environment()));
                None
            }
        };
    }
    let place = place(address)?;
    let stream = direct(report, &place, limits).await?;
    if address.is_https() {
        let host = address.uri().host().unwrap_or_default();
        tls::look(report, host, stream, limits).await?;
    }
    Some(())
}

/// A host and port to look up.
type HostAndPort = (String, u16);

/// Resolves the name and connects to each of its addresses.
async fn direct(report: &Report, place: &HostAndPort, limits: Limits) -> Option<TcpStream> {
    let (host, port) = place;
    report.step(format!("looking up {host}"));
    let began = Instant::now();
    let addresses = match resolve(place, limits.probe).await {
        Ok(addresses) => addresses,
        Err(said) => {
            let said = format!("`{host}` has no address: {said}");
            report.add(Finding::of(&connect::RESOLVE, said));
            return None;
        }
    };
    if host.parse::<std::net::IpAddr>().is_err() {
        let found = addresses.len();
        let es = if found == 1 { "" } else { "es" };
        let took = elapsed(began.elapsed());
        report.ok(&connect::RESOLVE, format!("{found} address{es} in {took}"));
    }
    report.step(format!("connecting to port {port} of {host}"));
    try_each(report, place, addresses, limits).await
}

/// Connects to each address; returns the first connection that succeeds.
async fn try_each(
    report: &Report,
    place: &HostAndPort,
    addresses: Vec<SocketAddr>,
    limits: Limits,
) -> Option<TcpStream> {
    let (host, port) = place;
    let (mut open, mut closed) = (None, Vec::new());
    for address in addresses {
        let began = Instant::now();
        match timeout(limits.probe, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                open.get_or_insert((stream, began.elapsed()));
            }
            Ok(Err(error)) => closed.push(format!("{address}: {error}")),
            Err(_) => closed.push(format!("{address}: no connection in time")),
        }
    }
    let Some((stream, took)) = open else {
        let said = format!("nothing accepts connections at port {port} of `{host}`");
        report.add(Finding::of(&connect::TCP, said).seen_all(closed));
        return None;
    };
    report.ok(&connect::TCP, format!("TCP {}", elapsed(took)));
    if !closed.is_empty() {
        let said = format!("not every address of `{host}` answers");
        report.add(Finding::of(&connect::ADDRESSES, said).seen_all(closed));
    }
    Some(stream)
}

async fn resolve(place: &HostAndPort, limit: Duration) -> Result<Vec<SocketAddr>, String> {
    let looked = timeout(limit, lookup_host((place.0.as_str(), place.1))).await;
    let addresses = match looked {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(error)) => return Err(error.to_string()),
        Err(_) => return Err("no answer in time".to_owned()),
    };
    let mut all: Vec<SocketAddr> = addresses.collect();
    all.dedup();
    all.truncate(MAX_ADDRESSES);
    if all.is_empty() {
        return Err("the name has no addresses".to_owned());
    }
    Ok(all)
}

pub(super) async fn reach(place: &HostAndPort, limit: Duration) -> Result<TcpStream, String> {
    let addresses = resolve(place, limit).await?;
    let connecting = TcpStream::connect(addresses.as_slice());
    match timeout(limit, connecting).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("no connection in time".to_owned()),
    }
}

pub(super) fn place(address: &Address) -> Option<HostAndPort> {
    let uri = address.uri();
    let usual = if address.is_https() { 443 } else { 80 };
    let host = uri.host()?.trim_matches(['[', ']']).to_owned();
    Some((host, uri.port_u16().unwrap_or(usual)))
}

fn host_of(proxy: &str) -> Option<HostAndPort> {
    place(&Address::parse(proxy).ok()?)
}

/// Whether the address is on loopback, so that only this machine can reach it.
pub(crate) fn is_loopback(address: &Address) -> bool {
    loopback::is_loopback(address.uri().host().unwrap_or_default())
}

fn warn_of_cleartext(report: &Report, address: &Address) {
    if !address.is_https() && !is_loopback(address) {
        let said = "requests and tokens travel unencrypted";
        report.add(Finding::of(&connect::CLEARTEXT, said).at(address.to_string()));
    }
}

/// The proxies in the environment, without their credentials.
fn environment() -> Vec<String> {
    let names = ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"];
    let lower = names.map(str::to_ascii_lowercase);
    let names = names
        .iter()
        .copied()
        .chain(lower.iter().map(String::as_str));
    let set = names.filter_map(|name| {
        let value = std::env::var(name).ok()?;
        let shown = value.rsplit('@').next().unwrap_or_default();
        Some(format!("{name}={shown}"))
    });
    set.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Severity;

    /// A test cannot rely on the addresses of a name, so this test passes addresses.
    #[tokio::test]
    async fn an_address_that_does_not_answer_is_told_though_another_does() {
        let open = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        // Bound, so that no other process gets the port, but not listening.
        let closed = tokio::net::TcpSocket::new_v4().unwrap();
        closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let addresses = vec![closed.local_addr().unwrap(), open.local_addr().unwrap()];
        let report = Report::test();
        let place = ("localhost".to_owned(), addresses[1].port());
        let limits = Limits::of(Duration::from_mins(1));
        assert!(try_each(&report, &place, addresses, limits).await.is_some());
        let bad = report.first(Severity::Warning).expect("one is closed");
        assert_eq!(bad.check.id, "connect.addresses");
    }
}
