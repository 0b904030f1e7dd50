//! The memory cost of a parked call, measured in another run of this test binary with a gateway in it.

use std::process::Stdio;

use serde_json::json;
use turnbuckle_client::{Connection, Era};
use turnbuckle_gateway::{Gateway, UpstreamSettings};

use crate::{
    by_hand::{as_caller, call, send},
    site::{listen, remote},
    upstream,
};

/// The environment variable of the child process with the URL of the gateway's server.
const URL: &str = "TURNBUCKLE_GATEWAY_TEST_URL";

/// 11 KB for a call at a server over Streamable HTTP that shares its session with others. 7.4 to
/// 7.7 KB were measured in a debug build. It was 14 KB with a future that kept space for the
/// beginning of the call, and 30 KB with buffers of hyper for a connection per call.
const MOST_BYTES: usize = 11_000;

/// A caller may have 16 parked calls, and a server 32.
const OF_ONE_CALLER: usize = 16;
const SERVERS: usize = 10;

/// Callers whose calls are parked first, so that one-time allocations are not counted. The measured
/// callers have one parked call before the measurement too, and with it their session.
const FIRST_CALLERS: usize = 4;
const CALLERS: usize = 16;

#[tokio::test]
async fn a_parked_call_holds_no_buffers_of_its_connection() {
    let url = listen(upstream::server().build().expect("a server")).await;
    let program = std::env::current_exe().expect("this program");
    let child = tokio::process::Command::new(program)
        .args(["--ignored", "--exact", "memory::gateway_process"])
        .arg("--nocapture")
        .env(URL, url)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .output();
    let output = child.await.expect("the gateway");
    let said = String::from_utf8_lossy(&output.stdout);
    let grown = said.lines().find_map(|line| line.strip_prefix("grown by "));
    let grown: usize = grown.expect(&said).parse().expect("a number");
    let bytes = grown / (CALLERS * (OF_ONE_CALLER - 1));
    println!("{bytes} bytes for a parked call");
    assert!(bytes <= MOST_BYTES, "{bytes} bytes for a parked call");
}

#[tokio::test]
#[ignore = "the gateway that the other test starts"]
async fn gateway_process() {
    let url = std::env::var(URL).expect("the URL of a server");
    let gateway = (0..SERVERS).fold(Gateway::new("gateway", "1.0.0"), |gateway, number| {
        let settings = UpstreamSettings::new().era(Era::Legacy);
        gateway.server_with(format!("s{number:02}"), remote(&url), settings)
    });
    let gateway = gateway.open().expect("a gateway");
    gateway.settled().await;
    let mut callers = Vec::new();
    for number in 0..FIRST_CALLERS + CALLERS {
        let caller = as_caller(&gateway, &format!("c{number}")).await;
        park(&caller, number, 1).await;
        callers.push(caller);
    }
    for (number, caller) in callers.iter().enumerate().take(FIRST_CALLERS) {
        park(caller, number, OF_ONE_CALLER - 1).await;
    }
    let before = resident_bytes();
    for (number, caller) in callers.iter().enumerate().skip(FIRST_CALLERS) {
        park(caller, number, OF_ONE_CALLER - 1).await;
    }
    assert_eq!(
        gateway.parked(),
        FIRST_CALLERS * OF_ONE_CALLER + CALLERS * OF_ONE_CALLER
    );
    println!("\ngrown by {}", resident_bytes().saturating_sub(before));
}

/// Starts calls of one caller that ask a question, which is not answered.
async fn park(caller: &Connection, number: usize, calls: usize) {
    let tool = format!("s{:02}__form", number % SERVERS);
    let begun: Vec<_> = (0..calls)
        .map(|_| {
            let (caller, params) = (caller.clone(), call(&tool, &json!({})));
            tokio::spawn(async move { send(&caller, &params).await })
        })
        .collect();
    for asked in begun {
        let asked = asked.await.expect("it ends");
        assert_eq!(asked.expect("a question")["resultType"], "input_required");
    }
}

/// The resident memory of this process.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("the state of this process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kilobytes: usize = kilobytes.expect("VmRSS").trim().parse().expect("a number");
    kilobytes * 1024
}
