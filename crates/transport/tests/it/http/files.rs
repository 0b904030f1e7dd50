//! A server that runs out of file descriptors: the test binary, started again with a low limit.

use std::process::Command;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use turnbuckle_transport::http::Settings;

use super::raw::Raw;
use super::site::Site;

/// A runtime needs about twelve.
const OPEN_FILES: usize = 40;

#[test]
fn a_server_out_of_files_waits_until_it_has_some() {
    let binary = std::env::current_exe().unwrap();
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("ulimit -n {OPEN_FILES} && exec \"$0\" \"$@\""))
        .arg(binary)
        .args(["--ignored", "--exact", "http::files::starving_process"])
        .status();
    assert!(status.unwrap().success());
}

#[test]
#[ignore = "the process that the other test starts"]
fn starving_process() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(starve());
}

async fn starve() {
    let site = Site::open(Settings::default()).await;
    let address = site.address.unwrap();
    // Clients and server open descriptors in turn until no descriptor is left.
    let mut clients = Vec::new();
    while let Ok(client) = TcpStream::connect(address).await {
        clients.push(client);
    }
    assert!(clients.len() >= 5, "{}", clients.len());
    let before = processor_time();
    let start = Instant::now();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let spent = processor_time().saturating_sub(before);
    assert!(spent < start.elapsed() / 4, "spinning: {spent:?}");

    clients.truncate(2);
    let mut client = Raw::connect(address).await;
    assert_eq!(client.ask("/").await.0, 200);
}

fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap(),
    )
}
