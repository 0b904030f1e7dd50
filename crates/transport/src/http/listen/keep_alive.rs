//! TCP options of accepted connections.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// 1 min of silence, then a probe every 15 s: a machine that has disappeared is detected within two
/// minutes, and the kernel does this without waking the process.
const PROBE_AFTER: Duration = Duration::from_mins(1);
#[cfg(any(target_os = "linux", target_os = "macos"))]
const PROBE_EVERY: Duration = Duration::from_secs(15);
#[cfg(any(target_os = "linux", target_os = "macos"))]
const PROBES: u32 = 4;

/// Disables delays in sending, and enables probes of silent clients.
pub(super) fn set_up(stream: &TcpStream) {
    // Neither is required: if the system refuses, responses are delayed and dead clients are detected
    // later.
    let _ = stream.set_nodelay(true);
    let _ = SockRef::from(stream).set_tcp_keepalive(&keep_alive());
}

fn keep_alive() -> TcpKeepalive {
    let probes = TcpKeepalive::new().with_time(PROBE_AFTER);
    // Other systems use their default interval.
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    let probes = probes.with_interval(PROBE_EVERY).with_retries(PROBES);
    probes
}
