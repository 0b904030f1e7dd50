//! Finds ports for processes that get a fixed port, and that use it again after a restart.

use std::{
    fs,
    hash::{BuildHasher as _, RandomState},
    io,
    net::{Ipv4Addr, TcpListener},
    ops::RangeInclusive,
};

/// The lowest port that is returned. Many services are configured to use ports below it.
const LOWEST_PORT: u16 = 10_000;

/// How many ports are tried.
const ATTEMPTS: u64 = 20;

/// Returns an unused port of loopback. It is outside the range that the system uses for outgoing
/// connections, so that a process can use it again after a restart.
pub fn free_port() -> io::Result<u16> {
    let outgoing = outgoing_ports();
    let ports: Vec<u16> = (LOWEST_PORT..=u16::MAX)
        .filter(|port| !outgoing.contains(port))
        .collect();
    for attempt in 0..ATTEMPTS {
        let random = RandomState::new().hash_one(attempt);
        let index = usize::try_from(random % ports.len().max(1) as u64).unwrap_or(0);
        let Some(port) = ports.get(index) else { break };
        if TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok() {
            return Ok(*port);
        }
    }
    let problem = format!("no free port outside of {outgoing:?}, where outgoing connections are");
    Err(io::Error::new(io::ErrorKind::AddrInUse, problem))
}

/// The range of ports that the system uses for outgoing connections, or IANA's range if it is unknown.
fn outgoing_ports() -> RangeInclusive<u16> {
    let text = fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let mut ports = text.split_whitespace().map_while(|word| word.parse().ok());
    match (ports.next(), ports.next()) {
        (Some(first), Some(last)) => first..=last,
        _ => 49_152..=u16::MAX,
    }
}
