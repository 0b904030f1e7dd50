//! HAProxy in front of the replicas, with the configuration that we publish.

use std::{net::TcpListener, os::fd::OwnedFd, path::Path, process::Stdio};

use serde_json::json;
use tokio::{process::Command, time::timeout};
use turnbuckle::{Answers, Client, Revision, protocol::ElicitResult};

use super::{Cluster, TIMEOUT};

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_every_revision_work_through_haproxy() {
    let cluster = Cluster::start(3).await;
    let listener = TcpListener::bind("127.0.0.1:0").expect("a socket");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/haproxy.cfg");
    let mut haproxy = Command::new("haproxy");
    // It inherits the socket that it listens on, so that no port has to be chosen.
    haproxy
        .env("MCP_BIND", "fd@0")
        .stdin(Stdio::from(OwnedFd::from(listener)));
    for (number, replica) in (1..).zip(&cluster.replicas) {
        haproxy.env(format!("MCP_REPLICA_{number}"), &replica.host);
    }
    let haproxy = haproxy.arg("-db").arg("-f").arg(config);
    let _haproxy = haproxy
        .kill_on_drop(true)
        .spawn()
        .expect("`haproxy` is installed; `./scripts/test redis` installs it");
    for revision in Revision::ALL {
        let answers =
            Answers::new().on_form(|_| async { Ok(ElicitResult::accept([("name", "Ada")])) });
        let client = Client::new("test", "1.0.0")
            .answering(answers)
            .only(*revision);
        let connected = timeout(TIMEOUT, client.connect(&*url)).await;
        let connected = connected.expect("it answers in time");
        let client = connected.unwrap_or_else(|error| panic!("{revision}: {error}"));
        let tool = if revision.as_str() < "2025-06-18" {
            "lunch"
        } else {
            "tea"
        };
        for _ in 0..3 {
            let made = timeout(TIMEOUT, client.call(tool, json!({}))).await;
            let made = made.expect("it is answered in time");
            made.unwrap_or_else(|error| panic!("{revision}: {error}"));
        }
    }
}
