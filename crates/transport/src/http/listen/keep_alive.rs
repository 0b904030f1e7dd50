//! TCP options of accepted connections.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// 1 min of silence, then a probe each quarter: a machine that vanished is noticed within two
/// minutes, and the kernel does it without waking us.
const PROBE_AFTER: Duration = Duration::from_mins(1);
#[cfg(any(target_os = "linux", target_os = "macos"))]
const PROBE_EVERY: Duration = Duration::from_secs(15);
#[cfg(any(target_os = "linux", target_os = "macos"))]
const PROBES: u32 = 4;

/// Sends without delay, and probes clients that are silent.
pub(super) fn set_up(stream: &TcpStream) {
    // Neither is needed to serve: where the system refuses, answers come later and dead clients
    // stay longer.
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(stream).set_tcp_keepalive(&keep_alive());
}

fn keep_alive() -> TcpKeepalive {
    let probes = TcpKeepalive::new().with_time(PROBE_AFTER);
    // Elsewhere the system's own pace has to do.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    let probes = probes.with_interval(PROBE_EVERY).with_retries(PROBES);
    probes
}
